import type { SenderEvent } from '../outbox/sender-events.ts';
import type { EventOf, Line } from './line.ts';
import { STORE_LINES } from './store-lines.ts';

/** The events of a sender that get their own lines. */
type SenderLineType =
  | ('full' | 'accepting' | 'failing' | 'recovered' | 'disabled' | 'enabled' | 'paused' | 'resumed')
  | ('endpoint-failed' | 'buckets-lost' | 'buckets-restored' | 'redriven' | 'purged')
  | ('store-failed' | 'store-recovered' | 'store-warning' | 'alarm' | 'alarm-cleared' | 'closed');

/** The events of a sender that end what another has begun. */
export const SENDER_ENDS: Readonly<Partial<Record<SenderLineType, SenderLineType>>> = {
  accepting: 'full',
  recovered: 'failing',
  enabled: 'disabled',
  resumed: 'paused',
  'buckets-restored': 'buckets-lost',
  'store-recovered': 'store-failed',
  'alarm-cleared': 'alarm',
};

const UNTIL_RESUMED = 'Its events are dead letters until it is resumed.';
const DISABLED = {
  gone: `An endpoint was disabled: it answered 410. ${UNTIL_RESUMED}`,
  failing: `An endpoint was disabled: it has failed for too long. ${UNTIL_RESUMED}`,
  unknown:
    'An endpoint was disabled: the function endpoint returned null. Its events are dead letters until it returns settings.',
} as const;

export const SENDER_LINES: { readonly [T in SenderLineType]: Line<EventOf<T, SenderEvent>> } = {
  full: {
    level: 'warn',
    fields: ['depth', 'bytes'],
    message: ({ depth }) =>
      `The outbox is full, with ${String(depth)} events. Calls of send wait or are refused.`,
  },
  accepting: {
    level: 'info',
    fields: ['depth', 'bytes'],
    message: ({ depth }) => `The outbox has room again, with ${String(depth)} events.`,
  },
  failing: {
    level: 'warn',
    fields: ['endpoint', 'retryInMs'],
    message: () => 'Attempts at an endpoint fail one after another. Only single probes are made.',
  },
  recovered: {
    level: 'info',
    fields: ['endpoint'],
    message: () => 'An endpoint that failed works again.',
  },
  disabled: {
    level: 'error',
    fields: ['endpoint', 'reason'],
    message: ({ reason }) => DISABLED[reason],
    variant: ({ reason }) => reason,
  },
  enabled: {
    level: 'info',
    fields: ['endpoint'],
    message: () => 'An endpoint was enabled again.',
  },
  paused: {
    level: 'info',
    fields: ['endpoint'],
    message: () => 'Attempts at an endpoint are paused.',
  },
  resumed: {
    level: 'info',
    fields: ['endpoint'],
    message: () => 'Attempts at an endpoint are resumed.',
  },
  'endpoint-failed': {
    level: 'error',
    fields: ['endpoint', 'isKept'],
    message: ({ isKept }) =>
      `The function endpoint failed. ${isKept ? 'The last settings stay in use.' : 'The events wait.'}`,
    variant: ({ isKept }) => String(isKept),
  },
  'buckets-lost': {
    level: 'error',
    fields: ['processes'],
    message: ({ processes }) =>
      `The shared buckets do not answer. Each process uses its part of the rates. Processes: ${String(processes)}.`,
  },
  'buckets-restored': {
    level: 'info',
    fields: ['lostMs'],
    message: () => 'The shared buckets answer again.',
  },
  redriven: {
    level: 'info',
    fields: ['count'],
    message: ({ count }) => `Dead letters were put back into the queue: ${String(count)}.`,
  },
  purged: {
    level: 'info',
    fields: ['count'],
    message: ({ count }) => `Dead letters were deleted: ${String(count)}.`,
  },
  alarm: {
    level: 'error',
    fields: ['code', 'endpoint', 'value', 'threshold', 'help'],
    message: ({ message }) => message,
    variant: ({ code }) => code,
  },
  'alarm-cleared': {
    level: 'info',
    fields: ['code', 'endpoint', 'value', 'threshold'],
    message: ({ message }) => `An alarm has ended. ${message}`,
    variant: ({ code }) => code,
  },
  closed: {
    level: 'info',
    fields: ['completed', 'remaining'],
    message: () => 'The sender is closed.',
  },
  ...STORE_LINES,
};
