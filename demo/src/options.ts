import { parseArgs } from 'node:util';
import { BULK, FLEET, IMPORT } from './setup.ts';

const MOST = 20_000;

/** What the demo was asked for. */
export interface DemoOptions {
  /** How many deliveries a run has. */
  readonly deliveries: number;
  /** Whether `--deliveries` was given: then a busy machine does not reduce the number. */
  readonly isSizeFixed: boolean;
  /** Whether to show the inbox. */
  readonly isInbox: boolean;
  /** Whether to show receivers and workers on one database. */
  readonly isFleet: boolean;
  /** Whether to show the sender of the package. */
  readonly isSender: boolean;
  /** Whether to run until it is interrupted, for the live page. */
  readonly isWatch: boolean;
  /** Where the live page listens with `--watch`. 0: the system chooses. */
  readonly port: number;
}

/**
 * - `--deliveries`: an integer from 1 to 20,000, with `--sender` to 50,000
 * - `--inbox`: acknowledge first, and be killed in the middle of it
 * - `--fleet`: the same with three receivers and three workers on one PostgreSQL, which is killed too
 * - `--sender`: send to a fast receiver, to one with the middleware, and to one that hangs
 * - `--watch`: keep running, with waves of load; `--port`: with the live page at this port, from 0 to 65,535
 */
export function optionsFrom(args: string[]): DemoOptions {
  const { values } = parseArgs({
    args,
    options: {
      deliveries: { type: 'string' },
      inbox: { type: 'boolean', default: false },
      fleet: { type: 'boolean', default: false },
      sender: { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
      port: { type: 'string' },
    },
  });
  const { deliveries, inbox, fleet, sender, watch, port } = values;
  if (watch && (inbox || fleet || sender || deliveries !== undefined))
    throw new Error('--watch cannot be combined with --inbox, --fleet, --sender or --deliveries.');
  if (inbox && fleet) throw new Error('--inbox cannot be combined with --fleet.');
  if (sender && (inbox || fleet)) throw new Error('--sender cannot be combined with --inbox or --fleet.');
  if (!watch && port !== undefined) throw new Error('--port needs --watch.');
  const usual = sender ? BULK.events : fleet ? FLEET.deliveries : IMPORT.deliveries;
  return {
    deliveries: integer('--deliveries', deliveries ?? String(usual), 1, sender ? BULK.events : MOST),
    isSizeFixed: deliveries !== undefined,
    isInbox: inbox,
    isFleet: fleet,
    isSender: sender,
    isWatch: watch,
    port: integer('--port', port ?? '0', 0, 65_535),
  };
}

function integer(name: string, given: string, from: number, to: number): number {
  const value = Number(given);
  if (given.trim() !== '' && Number.isInteger(value) && value >= from && value <= to) return value;
  throw new Error(`${name} must be an integer from ${String(from)} to ${String(to)}, but was ${given}.`);
}
