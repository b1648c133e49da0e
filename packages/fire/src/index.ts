import { BackpressureError } from '@webhook-backpressure/base';
import { UsageError } from '@webhook-backpressure/planner/parts';
import { parseCommand } from './cli/arguments.ts';
import { fireAt } from './cli/fire.ts';
import type { Report } from './report/report.ts';

export type { Figures, Report, SenderFigures } from './report/report.ts';
export type { Prediction } from './run/scenario.ts';

/** Settings of {@link fire}. */
export interface FireSettings {
  /** Ends the run, with the report so far. Default: it ends when each delivery is acknowledged or given up. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a burst to an endpoint as real senders do, and waits until each delivery is acknowledged or given up.
 *
 * @param args - as on the command line: `['http://127.0.0.1:3000/webhooks', '--as', 'stripe', '--burst', '2000/5s']`.
 * `--json`, `--junit`, `--listen`, `--help` and `--version` are not among them.
 * @returns what `--json` prints.
 * @throws BackpressureError `ERR_WBP_FIRE` for wrong arguments, and for an endpoint that is not allowed.
 */
export async function fire(args: readonly string[], settings: FireSettings = {}): Promise<Report> {
  try {
    const command = parseCommand(args, Math.floor(Math.random() * Number.MAX_SAFE_INTEGER));
    if (command.name !== 'fire' || command.isJson || command.junit !== undefined)
      throw new UsageError('fire() takes a URL and what is sent; other arguments are for the command.');
    const [report] = await fireAt(command, { signal: settings.signal ?? new AbortController().signal });
    return report;
  } catch (error) {
    throw error instanceof UsageError ? new BackpressureError('ERR_WBP_FIRE', error.message) : error;
  }
}
