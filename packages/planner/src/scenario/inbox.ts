import { BackpressureError } from '@webhook-backpressure/base';
import { createInbox, type InboxOptions, memoryStore } from '@webhook-backpressure/inbox';
import { manualClock } from '@webhook-backpressure/core/testing';
import { aNumber, mistake, ScenarioError, type Fields } from './fields.ts';

/** The options of a simulated inbox. The others are for contents, verification and other stores. */
export type ScenarioInboxOptions = Pick<
  InboxOptions,
  | (
      | 'capacity'
      | 'highWaterMark'
      | 'lowWaterMark'
      | 'maxWaitMs'
      | 'successStatus'
      | 'statusCode'
      | 'retryAfter'
      | 'shed'
    )
  | ('concurrency' | 'drainRate' | 'maxConcurrencyPerKey' | 'maxHandlingMs' | 'ordered' | 'retry')
>;

const OPTIONS: readonly (keyof ScenarioInboxOptions)[] = [
  ...([
    'capacity',
    'highWaterMark',
    'lowWaterMark',
    'maxWaitMs',
    'successStatus',
    'statusCode',
    'retryAfter',
    'shed',
  ] as const),
  ...(['concurrency', 'drainRate', 'maxConcurrencyPerKey', 'maxHandlingMs', 'ordered', 'retry'] as const),
];

/** The receiver stores each delivery, acknowledges it, and handles it later. */
export interface ScenarioInbox {
  readonly options: ScenarioInboxOptions;
  /** How long the store takes for a commit. It makes one at a time. */
  readonly commitMs: number;
}

const aCommit = aNumber('a number of milliseconds from 0 to 10000', (ms) => ms >= 0 && ms <= 10_000);

export function readInbox(fields: Fields): ScenarioInbox {
  const commitMs = fields.get('commitMs', aCommit, 0);
  const given = OPTIONS.map((name) => [name, fields.raw(name)] as const);
  const options = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  // The inbox itself validates its options.
  try {
    createInbox({
      ...{ ...options, clock: manualClock(), store: memoryStore() },
      ...{ verify: false, process: () => undefined },
    });
  } catch (error) {
    if (!(error instanceof BackpressureError)) throw error;
    throw new ScenarioError(`${fields.path}.${error.message}`);
  }
  return { options, commitMs };
}

/** The fields of a scenario that only hold mode has. */
export interface HoldFields {
  readonly policy: { readonly name: string };
  readonly process: unknown;
  readonly fleet: unknown;
  readonly senders: readonly { readonly delivery: { readonly priority?: unknown } }[];
}

/** The run with an inbox has one receiver whose process takes no time, and its deliveries have no priority. */
export function checkInboxScenario({ policy, process, fleet, senders }: HoldFields): void {
  const because = 'because an inbox is simulated without it';
  if (process !== undefined) throw new ScenarioError(`process must be absent in mode "inbox", ${because}.`);
  if (fleet !== undefined) throw new ScenarioError(`fleet must be absent in mode "inbox", ${because}.`);
  if (policy.name !== 'intake') throw mistake('policy', '"intake" in mode "inbox"', policy.name);
  for (const [index, { delivery }] of senders.entries()) {
    if (delivery.priority === undefined) continue;
    const path = `senders[${String(index)}].delivery.priority`;
    throw mistake(path, 'absent in mode "inbox", whose deliveries have none', delivery.priority);
  }
}
