import type { AlarmCode } from '@webhook-backpressure/core';
import type { AlarmReading } from './alarm.ts';
import type { InboxAlarmSettings, OutboxAlarmSettings } from './alarm-options.ts';

/** The settings of any source. It has only the alarms whose thresholds are in them. */
export type AnyAlarmSettings = Partial<Omit<InboxAlarmSettings, keyof OutboxAlarmSettings>> &
  Partial<OutboxAlarmSettings>;

/** When one alarm is raised. It is cleared when the value is at most half of the threshold. */
interface Rule<R, S, O extends string> {
  readonly code: AlarmCode;
  /** The option that holds the threshold. */
  readonly option: O;
  readonly value: (reading: R) => number;
  readonly mayRaise?: (reading: R, settings: S) => boolean;
  readonly message: (value: number, reading: R) => string;
}

/** When an alarm of a whole source is raised and cleared. */
export interface AlarmRule extends Rule<
  RuleReading,
  AnyAlarmSettings,
  Exclude<keyof InboxAlarmSettings, 'minArrivals'> | 'disabled'
> {
  /** Whether the value must exceed the threshold instead of reaching it. */
  readonly isExceeded?: boolean;
  /** The alarm is cleared when the value has been 0 for this long, in milliseconds. */
  readonly zeroForMs?: number;
  /** Whether the value only changes by events, and not by the passage of time. */
  readonly isUntimed?: boolean;
}

/** A reading, with the growth of the depth. */
export interface RuleReading extends AlarmReading {
  /** How long the depth has been growing; 0 if it is not. */
  readonly grownMs: number;
  readonly grownFrom: number;
}

/** Something that stops and starts again within this time has not ended. */
const CALM_MS = 30_000;

export const ALARM_RULES: readonly AlarmRule[] = [
  {
    code: 'WBP_ALARM_REFUSED',
    option: 'refusedRatio',
    isExceeded: true,
    value: ({ arrivals, refused }) => (arrivals === 0 ? 0 : Math.min(1, refused / arrivals)),
    mayRaise: ({ arrivals }, { minArrivals = 1 }) => arrivals >= minArrivals,
    message: (value, { arrivals }) =>
      `${percent(value)} of the ${counted(arrivals, 'delivery')} of the last five minutes were refused.`,
  },
  {
    code: 'WBP_ALARM_GROWING',
    option: 'growingMs',
    zeroForMs: 0,
    value: ({ grownMs }) => grownMs,
    message: (value, { depth, grownFrom }) =>
      value === 0
        ? `The queue no longer grows; its depth is ${grouped(depth)}.`
        : `The queue has grown for ${duration(value)}, from ${grouped(grownFrom)} to ${counted(depth, 'delivery')}.`,
  },
  {
    code: 'WBP_ALARM_STALLED',
    option: 'stalledMs',
    zeroForMs: CALM_MS,
    value: ({ stalledMs }) => stalledMs,
    message: (value) =>
      value === 0
        ? 'Deliveries complete again.'
        : `Deliveries are unfinished, and none has completed for ${duration(value)}.`,
  },
  {
    code: 'WBP_ALARM_LOSS_RISK',
    option: 'lossRisk',
    value: ({ lossRisk }) => lossRisk,
    message: (value) =>
      `In the last five minutes ${counted(value, 'delivery')} of senders that never retry ${was(value)} refused.`,
  },
  {
    code: 'WBP_ALARM_ENDANGERED',
    option: 'endangered',
    isUntimed: true,
    value: ({ endangered }) => endangered,
    message: (value) =>
      `${counted(value, 'sender')} ${value === 1 ? 'is' : 'are'} close to disabling the endpoint.`,
  },
  {
    code: 'WBP_ALARM_OLDEST_AGE',
    option: 'oldestAgeMs',
    value: ({ oldestAgeMs }) => oldestAgeMs,
    message: (value) =>
      value === 0
        ? 'The inbox is empty.'
        : `The oldest unfinished delivery was received ${duration(value)} ago.`,
  },
  {
    code: 'WBP_ALARM_DEAD_LETTERS',
    option: 'deadLetters',
    value: ({ dead }) => dead,
    message: (value) =>
      `In the last five minutes ${counted(value, 'delivery')} became ${value === 1 ? 'a dead letter' : 'dead letters'}.`,
  },
  {
    code: 'WBP_ALARM_STORE_FAILING',
    option: 'storeFailingMs',
    zeroForMs: CALM_MS,
    value: ({ storeFailingMs }) => storeFailingMs,
    message: (value) =>
      value === 0 ? 'The store works again.' : `Calls of the store have been failing for ${duration(value)}.`,
  },
  {
    code: 'WBP_ALARM_DISABLED',
    option: 'disabled',
    value: ({ disabled }) => disabled,
    message: (value) => `In the last five minutes ${counted(value, 'endpoint')} ${was(value)} disabled.`,
  },
];

/** The figures by which the alarms of one endpoint are judged. They are those of the last five minutes. */
export interface EndpointReading {
  readonly attempts: number;
  readonly limited: number;
  readonly queued: number;
  /** The mean time from `send` to the delivery; null without deliveries. */
  readonly meanLatencyMs: number | null;
}

/** When an alarm about one endpoint is raised: when the value exceeds the threshold. */
export type EndpointAlarmRule = Rule<
  EndpointReading,
  OutboxAlarmSettings,
  'limitedRatio' | 'queued' | 'meanLatencyMs'
>;

/** The alarms that each endpoint of a sender has. */
export const ENDPOINT_ALARM_RULES: readonly EndpointAlarmRule[] = [
  {
    code: 'WBP_ALARM_LIMITED',
    option: 'limitedRatio',
    value: ({ attempts, limited }) => (attempts === 0 ? 0 : Math.min(1, limited / attempts)),
    mayRaise: ({ attempts }, { minAttempts }) => attempts >= minAttempts,
    message: (value, { attempts }) =>
      `The endpoint asked to wait after ${percent(value)} of the ${counted(attempts, 'attempt')} of the last five minutes.`,
  },
  {
    code: 'WBP_ALARM_QUEUED',
    option: 'queued',
    value: ({ queued }) => queued,
    message: (value) => `The endpoint has ${counted(value, 'queued event')}.`,
  },
  {
    code: 'WBP_ALARM_LATENCY',
    option: 'meanLatencyMs',
    value: ({ meanLatencyMs }) => Math.round(meanLatencyMs ?? 0),
    message: (value) =>
      value === 0
        ? 'Nothing was delivered to the endpoint in the last five minutes.'
        : `In the last five minutes the mean time to deliver an event to the endpoint was ${duration(value)}.`,
  },
];

function percent(ratio: number): string {
  return `${String(Math.round(ratio * 1000) / 10)} %`;
}

/** 12,345. Not `toLocaleString`, which takes as long as a whole snapshot. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

function counted(count: number, one: string): string {
  if (count === 1) return `1 ${one}`;
  return `${grouped(count)} ${one === 'delivery' ? 'deliveries' : `${one}s`}`;
}

function was(count: number): string {
  return count === 1 ? 'was' : 'were';
}

/** 12 s, 4 min, 3 h */
function duration(ms: number): string {
  if (ms < 120_000) return `${grouped(Math.round(ms / 1000))} s`;
  if (ms < 7_200_000) return `${grouped(Math.round(ms / 60_000))} min`;
  return `${grouped(Math.round(ms / 3_600_000))} h`;
}
