import { BackpressureError } from '@webhook-backpressure/base';
import { createInbox, type InboxOptions, memoryStore } from '@webhook-backpressure/inbox';
import { manualClock } from '@webhook-backpressure/core/testing';
import { aNumber, ScenarioError, type Fields } from './fields.ts';

/** The options of a simulated inbox. The others are for contents, verification and other stores. */
export type ScenarioInboxOptions = Pick<
  InboxOptions,
  | 'capacity'
  | 'highWaterMark'
  | 'lowWaterMark'
  | 'maxWaitMs'
  | 'successStatus'
  | 'statusCode'
  | 'retryAfter'
  | 'shed'
  | 'concurrency'
  | 'maxStartsPerSecond'
  | 'maxConcurrencyPerKey'
  | 'maxHandlingMs'
  | 'ordered'
  | 'retry'
>;

const OPTIONS: readonly (keyof ScenarioInboxOptions)[] = [
  'capacity',
  'highWaterMark',
  'lowWaterMark',
  'maxWaitMs',
  'successStatus',
  'statusCode',
  'retryAfter',
  'shed',
  'concurrency',
  'maxStartsPerSecond',
  'maxConcurrencyPerKey',
  'maxHandlingMs',
  'ordered',
  'retry',
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
      ...options,
      clock: manualClock(),
      store: memoryStore(),
      verify: false,
      process: () => undefined,
    });
  } catch (error) {
    if (!(error instanceof BackpressureError)) throw error;
    throw new ScenarioError(`${fields.path}.${error.message}`);
  }
  return { options, commitMs };
}
