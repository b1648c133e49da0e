import { parseArgs } from 'node:util';
import { IMPORT } from './setup.ts';

const MOST = 20_000;

/** What the demo was asked for. */
export interface DemoOptions {
  /** How many deliveries a run has. */
  readonly deliveries: number;
  /** Whether `--deliveries` was given: then a busy machine does not reduce the number. */
  readonly isSizeFixed: boolean;
  /** Whether to show the inbox. */
  readonly isInbox: boolean;
}

/** `--deliveries`: an integer from 1 to 20,000. `--inbox`: acknowledge first, and be killed in the middle of it. */
export function optionsFrom(args: string[]): DemoOptions {
  const { values } = parseArgs({
    args,
    options: { deliveries: { type: 'string' }, inbox: { type: 'boolean', default: false } },
  });
  const deliveries = Number(values.deliveries ?? IMPORT.deliveries);
  if (Number.isInteger(deliveries) && deliveries >= 1 && deliveries <= MOST)
    return { deliveries, isSizeFixed: values.deliveries !== undefined, isInbox: values.inbox };
  throw new Error(
    `--deliveries must be an integer from 1 to ${String(MOST)}, but was ${values.deliveries ?? ''}.`,
  );
}
