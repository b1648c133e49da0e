#!/usr/bin/env node
import { runTool } from './cli/tool.ts';

process.exitCode = await runTool(process.argv.slice(2), {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
});
