import { unknownOption } from '@webhook-backpressure/base';
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

/** A wrong command line. Its message is a sentence. */
export class UsageError extends Error {}

export const HELP = `Shows the packages under a burst of webhooks, with real processes.

Usage: npm run demo -- [options]

  (none)          a bulk import, without the middleware and with it
  --inbox         acknowledge first: an inbox whose process is killed twice
  --fleet         receivers, workers and their PostgreSQL, all killed
  --sender        send to three receivers: fast, limited, hanging
  --watch         serve the live page under waves of load, until Ctrl-C
  --port N        with --watch: the port of the page, 0 to 65535 (default 0: a
                  free one)
  --deliveries N  how many deliveries, 1 to 20000, with --sender to 50000
                  (default 2800, 4000 with --fleet, 50000 with --sender)
  --help          print this text

Exit code: 0 done, 1 failed or a promise was broken, 2 wrong usage; 130, 143 or
129 after SIGINT, SIGTERM or SIGHUP, and 0 with --watch.`;

const OPTIONS = {
  deliveries: { type: 'string' },
  inbox: { type: 'boolean', default: false },
  fleet: { type: 'boolean', default: false },
  sender: { type: 'boolean', default: false },
  watch: { type: 'boolean', default: false },
  port: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/**
 * Reads the arguments, which {@link HELP} describes. Undefined for `--help`.
 *
 * @throws UsageError at the first mistake.
 */
export function optionsFrom(args: string[]): DemoOptions | undefined {
  const unknown = unknownOption(
    args,
    Object.keys(OPTIONS).map((name) => `--${name}`),
  );
  if (unknown !== undefined) throw new UsageError(unknown);
  const values = valuesIn(args);
  if (values.help) return undefined;
  const { deliveries, inbox, fleet, sender, watch, port } = values;
  if (watch && (inbox || fleet || sender || deliveries !== undefined))
    throw new UsageError('--watch cannot be combined with --inbox, --fleet, --sender or --deliveries.');
  if (inbox && fleet) throw new UsageError('--inbox cannot be combined with --fleet.');
  if (sender && (inbox || fleet))
    throw new UsageError('--sender cannot be combined with --inbox or --fleet.');
  if (!watch && port !== undefined) throw new UsageError('--port needs --watch.');
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

/** @throws UsageError for an option without its value, and for an argument that is no option. */
function valuesIn(args: string[]): ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'] {
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message.replace(/(?:\. |\n).*$/s, '')}.`);
  }
}

function integer(name: string, given: string, from: number, to: number): number {
  const value = Number(given);
  if (given.trim() !== '' && Number.isInteger(value) && value >= from && value <= to) return value;
  throw new UsageError(`${name} must be an integer from ${String(from)} to ${String(to)}, but was ${given}.`);
}
