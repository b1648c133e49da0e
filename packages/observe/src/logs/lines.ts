import type { IntakeEvent } from '@webhook-backpressure/core';
import type { InboxEvent } from '@webhook-backpressure/inbox';
import type { OutboxEvent } from '../outbox/outbox-events.ts';

/** How severe a line is: the name of the method that logs it. */
export type LogLevel = 'info' | 'warn' | 'error';

/** How the events of one type become lines, each at most once a second. */
export interface LineRule {
  readonly level: LogLevel;
  /** It must not contain what a request has determined, such as a key: a console would show it as it is. */
  readonly message: string | ((event: never, kind: string) => string);
  /** A field that distinguishes events of this type whose lines must not replace each other. */
  readonly by?: string;
  /** The type of the event whose end this is. The last line about a subject must say how it is now. */
  readonly ends?: string;
}

/** How the events of one type become one line a second. */
export interface SumRule {
  readonly level: LogLevel;
  /** What is counted, as the message says it. */
  readonly text: string;
  /** The same in a dry run, where it differs. */
  readonly dryRunText?: string;
  /** The fields that the line counts by value. Their values must be few. */
  readonly counted?: readonly string[];
  /** The field whose largest value the line has, and the name of that. */
  readonly largest?: readonly [field: string, name: string];
}

type OfType<T, E> = E extends { type: infer U } ? (T extends U ? E : never) : never;
/** Lines whose messages are made of their events. */
type LinesOf<E extends { type: string }> = {
  readonly [T in E['type']]?: Pick<LineRule, 'level'> & {
    readonly message: string | ((event: OfType<T, E>, kind: string) => string);
    readonly by?: keyof OfType<T, E>;
    readonly ends?: E['type'];
  };
};
type SumsOf<E extends { type: string }> = Partial<Record<E['type'], SumRule>>;

const ALARM_LINES = {
  alarm: { level: 'error', message: ({ message }) => message, by: 'code' },
  'alarm-cleared': {
    level: 'info',
    message: ({ message }) => `An alarm has ended. ${message}`,
    by: 'code',
    ends: 'alarm',
  },
} satisfies LinesOf<IntakeEvent>;

/** The lines about a store, which an inbox and a sender have. */
const STORE_LINES = {
  'store-failed': {
    level: 'error',
    message: ({ call, error }) => {
      const [code] = /ERR_WBP_[A-Z_]+/.exec(error) ?? [];
      return `The call ${call}() of the store failed${code === undefined ? '' : ` with ${code}`}.`;
    },
    by: 'call',
  },
  'store-recovered': { level: 'info', message: 'The store works again.', ends: 'store-failed' },
  'store-warning': { level: 'warn', message: ({ message }) => message, by: 'code' },
} satisfies LinesOf<InboxEvent>;

const of = (key: string | null): string => (key === null ? 'all deliveries' : 'the deliveries of one key');

const count = (members: number): string => (members === 1 ? '1 member' : `${String(members)} members`);

/** The events of an intake or an inbox that get their own lines. */
export const LINES: Readonly<Record<string, LineRule>> = {
  shedding: {
    level: 'warn',
    message: ({ depth }, kind) => `The ${kind} has begun to shed, at a depth of ${String(depth)}.`,
  },
  accepting: {
    level: 'info',
    message: ({ depth }, kind) => `The ${kind} accepts deliveries again, at a depth of ${String(depth)}.`,
    ends: 'shedding',
  },
  stalled: {
    level: 'error',
    message: (_, kind) =>
      `The ${kind} is stalled: deliveries are unfinished, and none has completed for long.`,
  },
  recovered: { level: 'info', message: (_, kind) => `The ${kind} is no longer stalled.`, ends: 'stalled' },
  overdue: { level: 'warn', message: 'A handler has exceeded maxHandlingMs.' },
  endangered: {
    level: 'error',
    message: 'A sender is close to disabling the endpoint because of failed deliveries.',
    by: 'sender',
  },
  warning: { level: 'warn', message: ({ message }) => message, by: 'code' },
  updated: {
    level: 'info',
    message: ({ options }, kind) => `Options of the ${kind} were updated: ${options.join(', ')}.`,
    by: 'options',
  },
  'fleet-joined': {
    level: 'info',
    message: ({ members }) => `The intake has joined its fleet, which has ${count(members)}.`,
  },
  'fleet-lost': {
    level: 'error',
    message: ({ share }) =>
      `The registry of the fleet has not answered for 10 s. This member continues with a share of ${String(share)}.`,
  },
  'fleet-restored': {
    level: 'info',
    message: ({ members }) => `The registry of the fleet answers again. The fleet has ${count(members)}.`,
    ends: 'fleet-lost',
  },
  closed: { level: 'info', message: (_, kind) => `The ${kind} is closed.` },
  outage: {
    level: 'error',
    message: ({ key }) => `Handlers fail one after another: an outage of ${of(key)}.`,
  },
  restored: { level: 'info', message: ({ key }) => `The outage of ${of(key)} is over.`, ends: 'outage' },
  paused: { level: 'info', message: ({ key }) => `Attempts are paused, for ${of(key)}.` },
  resumed: { level: 'info', message: ({ key }) => `Attempts are resumed, for ${of(key)}.`, ends: 'paused' },
  redriven: {
    level: 'info',
    message: ({ count }) => `Finished deliveries were put back into the queue: ${String(count)}.`,
  },
  purged: { level: 'info', message: ({ count }) => `Dead letters were deleted: ${String(count)}.` },
  ...ALARM_LINES,
  ...STORE_LINES,
} satisfies LinesOf<IntakeEvent | InboxEvent>;

/** The events that are only counted: a request can cause each of them, so a line for each would be a flood. */
export const SUMS: Readonly<Record<string, SumRule>> = {
  refused: {
    level: 'warn',
    text: 'Deliveries refused',
    dryRunText: 'Deliveries that would have been refused',
    counted: ['reason', 'status'],
    largest: ['retryAfterSeconds', 'maxRetryAfterSeconds'],
  },
  withdrawn: {
    level: 'warn',
    text: 'Queued deliveries withdrawn before their start',
    dryRunText: 'Queued deliveries that would have been withdrawn',
    counted: ['cause'],
    largest: ['waitedMs', 'maxWaitedMs'],
  },
  unverified: { level: 'warn', text: 'Deliveries answered with 401' },
  'verify-failed': { level: 'warn', text: 'Deliveries that verify could not decide on' },
  'too-large': { level: 'warn', text: 'Deliveries answered with 413' },
  overflow: { level: 'error', text: 'Deliveries stored as dead letters because the inbox was full' },
  conflict: { level: 'warn', text: 'Duplicates with another body' },
  failed: { level: 'warn', text: 'Failed attempts that will be retried' },
  dead: { level: 'error', text: 'Deliveries moved to the dead-letter queue' },
  'dead-letters-full': {
    level: 'error',
    text: 'Last attempts that failed while the dead-letter queue was full',
  },
  discarded: { level: 'warn', text: 'Old dead letters deleted' },
  lost: { level: 'warn', text: 'Claims taken over by another process' },
} satisfies SumsOf<IntakeEvent | InboxEvent>;

const UNTIL_RESUMED = 'Its events are dead letters until it is resumed.';
const DISABLED = {
  gone: `An endpoint was disabled: it answered 410. ${UNTIL_RESUMED}`,
  failing: `An endpoint was disabled: it has failed for too long. ${UNTIL_RESUMED}`,
  unknown:
    'An endpoint was disabled: the function endpoint returned null. Its events are dead letters until it returns settings.',
} as const;

/** The events of a sender that get their own lines. */
export const OUTBOX_LINES: Readonly<Record<string, LineRule>> = {
  full: {
    level: 'warn',
    message: ({ depth }) =>
      `The outbox is full, with ${String(depth)} events. Calls of send wait or are refused.`,
  },
  accepting: {
    level: 'info',
    message: ({ depth }) => `The outbox has room again, with ${String(depth)} events.`,
    ends: 'full',
  },
  failing: {
    level: 'warn',
    message: 'Attempts at an endpoint fail one after another. Only single probes are made.',
  },
  recovered: { level: 'info', message: 'An endpoint that failed works again.', ends: 'failing' },
  disabled: {
    level: 'error',
    message: ({ reason }) => DISABLED[reason],
    by: 'reason',
  },
  enabled: { level: 'info', message: 'An endpoint was enabled again.', ends: 'disabled' },
  paused: { level: 'info', message: 'Attempts at an endpoint are paused.' },
  resumed: { level: 'info', message: 'Attempts at an endpoint are resumed.', ends: 'paused' },
  'endpoint-failed': {
    level: 'error',
    message: ({ isKept }) =>
      `The function endpoint failed. ${isKept ? 'The last settings stay in use.' : 'The events wait.'}`,
    by: 'isKept',
  },
  'buckets-lost': {
    level: 'error',
    message: ({ processes }) =>
      `The shared buckets do not answer. Each process uses its part of the rates. Processes: ${String(processes)}.`,
  },
  'buckets-restored': { level: 'info', message: 'The shared buckets answer again.', ends: 'buckets-lost' },
  redriven: {
    level: 'info',
    message: ({ count }) => `Dead letters were put back into the queue: ${String(count)}.`,
  },
  purged: { level: 'info', message: ({ count }) => `Dead letters were deleted: ${String(count)}.` },
  closed: { level: 'info', message: 'The sender is closed.' },
  ...ALARM_LINES,
  ...STORE_LINES,
} satisfies LinesOf<OutboxEvent>;

/** The events of a sender that are only counted: there can be as many as there are attempts or endpoints. */
export const OUTBOX_SUMS: Readonly<Record<string, SumRule>> = {
  conflict: { level: 'warn', text: 'Known ids with another body' },
  limited: {
    level: 'warn',
    text: 'Attempts after which the endpoint asked to wait',
    counted: ['status'],
    largest: ['retryInMs', 'maxRetryInMs'],
  },
  failed: {
    level: 'warn',
    text: 'Failed attempts that will be retried',
    counted: ['status'],
    largest: ['retryInMs', 'maxRetryInMs'],
  },
  dead: { level: 'error', text: 'Events moved to the dead-letter queue', counted: ['status'] },
  split: { level: 'warn', text: 'Refused batches split into halves', counted: ['status'] },
  lost: { level: 'warn', text: 'Claims taken over by another process' },
  discarded: { level: 'warn', text: 'Old dead letters deleted' },
  waiting: {
    level: 'info',
    text: 'Pauses that endpoints asked for',
    counted: ['because'],
    largest: ['forMs', 'maxForMs'],
  },
  slowed: { level: 'info', text: 'Endpoints slowed down after a refusal' },
  restored: { level: 'info', text: 'Endpoints back at their set limits' },
} satisfies SumsOf<OutboxEvent>;
