#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { postgresSchema } from './schema/print.ts';

const USAGE = `Usage: webhook-backpressure-postgres schema [--schema NAME] [--from VERSION]

Prints the statements that create the tables of an inbox, or migrate them from a version.
`;

try {
  const { values, positionals } = parseArgs({
    options: { schema: { type: 'string' }, from: { type: 'string' }, help: { type: 'boolean' } },
    allowPositionals: true,
  });
  if (values.help === true) {
    process.stdout.write(USAGE);
  } else if (positionals.length === 1 && positionals[0] === 'schema') {
    process.stdout.write(`BEGIN;\n${postgresSchema(values.schema, Number(values.from ?? 0))}COMMIT;\n`);
  } else {
    process.stderr.write(USAGE);
    process.exitCode = 2;
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
