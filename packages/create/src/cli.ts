#!/usr/bin/env node
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline/promises';
import { runCli } from './run-cli.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
const { stdin, stdout, stderr } = process;

const terminal = stdin.isTTY && stdout.isTTY ? createInterface({ input: stdin, output: stdout }) : undefined;
// Unlike those of question(), lines that come before they are asked for are kept.
const lines = terminal?.[Symbol.asyncIterator]();
const ended = new AbortController();
terminal?.once('close', () => {
  ended.abort();
});

async function ask(question: string): Promise<string> {
  terminal?.setPrompt(question);
  // It would read on after Ctrl-C or Ctrl-D.
  if (!ended.signal.aborted) terminal?.prompt();
  const line = await lines?.next();
  if (line?.done !== false) throw new Error('The user has ended it.');
  return line.value;
}

try {
  process.exitCode = await runCli(process.argv.slice(2), {
    out: (text) => stdout.write(`${text}\n`),
    err: (text) => stderr.write(`${text}\n`),
    ask: terminal && ask,
    version,
    secret: () => randomBytes(32).toString('hex'),
  });
} catch (error) {
  if (!ended.signal.aborted) throw error;
  stderr.write('\nEnded: nothing was written.\n');
  process.exitCode = 1;
} finally {
  terminal?.close();
}
