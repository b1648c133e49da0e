#!/usr/bin/env node
import { createRequire } from 'node:module';
import { runCli } from './cli/run-cli.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
const { stdout, stderr } = process;

const interrupted = new AbortController();
process.on('SIGINT', () => {
  // The second one ends a run that cannot end.
  if (interrupted.signal.aborted) process.exit(130);
  interrupted.abort();
});
// A reader such as `head` may close the pipe early.
stdout.on('error', () => process.exit(1));

process.exitCode = await runCli(process.argv.slice(2), {
  out: (text) => stdout.write(`${text}\n`),
  err: (text) => stderr.write(`${text}\n`),
  progress: stderr.isTTY ? (line) => stderr.write(`\r\u001B[K${line}`) : undefined,
  // Some terminals say 0.
  columns: (stdout.isTTY && stdout.columns) || 100,
  version,
  signal: interrupted.signal,
  seed: Math.floor(Math.random() * Number.MAX_SAFE_INTEGER),
});
