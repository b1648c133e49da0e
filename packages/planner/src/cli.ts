#!/usr/bin/env node
import { createRequire } from 'node:module';
import { runCli } from './cli/run-cli.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
const { stdout, env } = process;

process.exitCode = await runCli(process.argv.slice(2), {
  out: (text) => stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  terminal: { columns: stdout.isTTY ? stdout.columns : 100, isColored: stdout.isTTY && !env['NO_COLOR'] },
  version,
  now: () => performance.now(),
});
