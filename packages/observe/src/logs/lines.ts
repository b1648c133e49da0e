import type { IntakeEvent } from '@webhook-backpressure/core';
import type { InboxEvent } from '@webhook-backpressure/inbox';
import type { EventOf, Line } from './line.ts';
import { STORE_LINES } from './store-lines.ts';

type LoggedEvent = IntakeEvent | InboxEvent;

/** The events that get their own lines. */
export type LineType =
  | 'shedding'
  | 'accepting'
  | 'stalled'
  | 'recovered'
  | 'overdue'
  | 'alarm'
  | 'alarm-cleared'
  | 'endangered'
  | 'warning'
  | 'updated'
  | 'fleet-joined'
  | 'fleet-lost'
  | 'fleet-restored'
  | 'closed'
  | 'outage'
  | 'restored'
  | 'paused'
  | 'resumed'
  | 'redriven'
  | 'purged'
  | 'store-failed'
  | 'store-recovered'
  | 'store-warning';

/** The events that end what another has begun. */
export const ENDS: Readonly<Partial<Record<LineType, LineType>>> = {
  accepting: 'shedding',
  recovered: 'stalled',
  'alarm-cleared': 'alarm',
  'fleet-restored': 'fleet-lost',
  restored: 'outage',
  resumed: 'paused',
  'store-recovered': 'store-failed',
};

const of = (key: string | null): string => (key === null ? 'all deliveries' : 'the deliveries of one key');

const count = (members: number): string => (members === 1 ? '1 member' : `${String(members)} members`);

export const LINES: { readonly [T in LineType]: Line<EventOf<T, LoggedEvent>> } = {
  shedding: {
    level: 'warn',
    fields: ['depth', 'bytes'],
    message: ({ depth }, kind) => `The ${kind} has begun to shed, at a depth of ${String(depth)}.`,
  },
  accepting: {
    level: 'info',
    fields: ['depth', 'bytes'],
    message: ({ depth }, kind) => `The ${kind} accepts deliveries again, at a depth of ${String(depth)}.`,
  },
  stalled: {
    level: 'error',
    fields: ['gapMs'],
    message: (_, kind) =>
      `The ${kind} is stalled: deliveries are unfinished, and none has completed for long.`,
  },
  recovered: {
    level: 'info',
    fields: [],
    message: (_, kind) => `The ${kind} is no longer stalled.`,
  },
  overdue: {
    level: 'warn',
    fields: ['key', 'heldMs', 'attempt'],
    message: () => 'A handler has exceeded maxHandlingMs.',
  },
  alarm: {
    level: 'error',
    fields: ['code', 'value', 'threshold', 'help'],
    message: ({ message }) => message,
    variant: ({ code }) => code,
  },
  'alarm-cleared': {
    level: 'info',
    fields: ['code', 'value', 'threshold'],
    message: ({ message }) => `An alarm has ended. ${message}`,
    variant: ({ code }) => code,
  },
  endangered: {
    level: 'error',
    fields: ['sender'],
    message: () => 'A sender is close to disabling the endpoint because of failed deliveries.',
    variant: ({ sender }) => sender,
  },
  warning: {
    level: 'warn',
    fields: ['code'],
    message: ({ message }) => message,
    variant: ({ code }) => code,
  },
  updated: {
    level: 'info',
    fields: ['options'],
    message: ({ options }, kind) => `Options of the ${kind} were updated: ${options.join(', ')}.`,
    variant: ({ options }) => options.join(),
  },
  'fleet-joined': {
    level: 'info',
    fields: ['resource', 'members'],
    message: ({ members }) => `The intake has joined its fleet, which has ${count(members)}.`,
  },
  'fleet-lost': {
    level: 'error',
    fields: ['resource', 'share'],
    message: ({ share }) =>
      `The registry of the fleet has not answered for 10 s. This member continues with a share of ${String(share)}.`,
  },
  'fleet-restored': {
    level: 'info',
    fields: ['resource', 'members', 'lostMs'],
    message: ({ members }) => `The registry of the fleet answers again. The fleet has ${count(members)}.`,
  },
  closed: {
    level: 'info',
    fields: ['completed', 'refused', 'remaining'],
    message: (_, kind) => `The ${kind} is closed.`,
  },
  outage: {
    level: 'error',
    fields: ['key', 'isCounting'],
    message: ({ key }) => `Handlers fail one after another: an outage of ${of(key)}.`,
  },
  restored: {
    level: 'info',
    fields: ['key'],
    message: ({ key }) => `The outage of ${of(key)} is over.`,
  },
  paused: {
    level: 'info',
    fields: ['key'],
    message: ({ key }) => `Attempts are paused, for ${of(key)}.`,
  },
  resumed: {
    level: 'info',
    fields: ['key'],
    message: ({ key }) => `Attempts are resumed, for ${of(key)}.`,
  },
  redriven: {
    level: 'info',
    fields: ['count'],
    message: ({ count }) => `Finished deliveries were put back into the queue: ${String(count)}.`,
  },
  purged: {
    level: 'info',
    fields: ['count'],
    message: ({ count }) => `Dead letters were deleted: ${String(count)}.`,
  },
  ...STORE_LINES,
};
