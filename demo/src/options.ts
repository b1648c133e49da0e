import { parseArgs } from 'node:util';
import { IMPORT } from './setup.ts';

const MOST = 20_000;

/** @returns how many deliveries a run has: `--deliveries`, an integer from 1 to 20,000. */
export function deliveriesFrom(args: string[]): number {
  const { values } = parseArgs({ args, options: { deliveries: { type: 'string' } } });
  if (values.deliveries === undefined) return IMPORT.deliveries;
  const deliveries = Number(values.deliveries);
  if (Number.isInteger(deliveries) && deliveries >= 1 && deliveries <= MOST) return deliveries;
  throw new Error(`--deliveries must be an integer from 1 to ${String(MOST)}, but was ${values.deliveries}.`);
}
