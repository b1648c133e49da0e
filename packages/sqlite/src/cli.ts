#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { runTool } from '@webhook-backpressure/inbox/tool';
import { target } from './cli/target.ts';

process.exitCode = await runTool(process.argv.slice(2), target, parseArgs, {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
});
