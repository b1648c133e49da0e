#!/usr/bin/env node
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline/promises';
import { runCli } from './run-cli.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
const { stdin, stdout, stderr } = process;

const ended = new AbortController();
const lines = stdin.isTTY && stdout.isTTY ? createInterface({ input: stdin, output: stdout }) : undefined;
// Ctrl-C and Ctrl-D.
lines?.once('close', () => {
  ended.abort();
});

try {
  process.exitCode = await runCli(process.argv.slice(2), {
    out: (text) => stdout.write(`${text}\n`),
    err: (text) => stderr.write(`${text}\n`),
    ask: lines && ((question) => lines.question(question, { signal: ended.signal })),
    version,
    secret: () => randomBytes(32).toString('hex'),
  });
} catch (error) {
  if (!ended.signal.aborted) throw error;
  stderr.write('\nEnded: nothing was written.\n');
  process.exitCode = 1;
} finally {
  lines?.close();
}
