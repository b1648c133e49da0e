import { parseArgs } from 'node:util';
import { UsageError } from '@webhook-backpressure/inbox/tool';
import { postgresSchema } from '../schema/print.ts';

/** The statements that `schema` prints. */
export function printedSchema(args: readonly string[]): string {
  const { schema, from } = optionsOf(args);
  return `BEGIN;\n${postgresSchema(schema, Number(from ?? 0))}COMMIT;`;
}

function optionsOf(args: readonly string[]): {
  readonly schema?: string | undefined;
  readonly from?: string | undefined;
} {
  try {
    return parseArgs({ args: [...args], options: { schema: { type: 'string' }, from: { type: 'string' } } })
      .values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
