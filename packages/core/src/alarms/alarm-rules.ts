import type { AlarmCode, AlarmReading } from './alarm.ts';
import type { InboxAlarmSettings, SenderAlarmSettings } from './alarm-options.ts';
import { counted, duration, grouped, percent, was } from './alarm-text.ts';

/** The thresholds of a whole source. */
type AlarmThreshold = Exclude<keyof InboxAlarmSettings, 'minArrivals'> | 'disabled';

/** The settings of any source. It has only the alarms whose thresholds are in them. */
export type AnyAlarmSettings = Partial<Omit<InboxAlarmSettings, keyof SenderAlarmSettings>> &
  Partial<SenderAlarmSettings>;

/** When one alarm is raised and cleared. */
export interface AlarmRule {
  readonly code: AlarmCode;
  /** The option that holds the threshold. */
  readonly option: AlarmThreshold;
  /** Whether the value must exceed the threshold instead of reaching it. */
  readonly isExceeded?: boolean;
  /** A raised alarm ends when the value has been at most this … */
  readonly clearsAt: (threshold: number) => number;
  /** … for this long, in milliseconds. */
  readonly calmMs: number;
  /** Whether the value can change without an event, by the passage of time. */
  readonly isTimed: boolean;
  readonly value: (reading: RuleReading) => number;
  readonly mayRaise?: (reading: RuleReading, settings: AnyAlarmSettings) => boolean;
  readonly message: (value: number, reading: RuleReading) => string;
}

/** A reading, with the growth of the depth. */
export interface RuleReading extends AlarmReading {
  /** How long the depth has been growing; 0 if it is not. */
  readonly grownMs: number;
  readonly grownFrom: number;
}

/** Something that stops and starts again within this time has not ended. */
const CALM_MS = 30_000;

const half = (threshold: number): number => threshold / 2;
const halfCount = (threshold: number): number => Math.floor(threshold / 2);
const zero = (): number => 0;

export const ALARM_RULES: readonly AlarmRule[] = [
  {
    code: 'WBP_ALARM_REFUSED',
    option: 'refusedRatio',
    isExceeded: true,
    clearsAt: half,
    calmMs: 0,
    isTimed: true,
    value: ({ arrivals, refused }) => (arrivals === 0 ? 0 : Math.min(1, refused / arrivals)),
    mayRaise: ({ arrivals }, { minArrivals = 1 }) => arrivals >= minArrivals,
    message: (value, { arrivals }) =>
      `${percent(value)} of the ${counted(arrivals, 'delivery')} of the last five minutes were refused.`,
  },
  {
    code: 'WBP_ALARM_GROWING',
    option: 'growingMs',
    clearsAt: zero,
    calmMs: 0,
    isTimed: true,
    value: ({ grownMs }) => grownMs,
    message: (value, { depth, grownFrom }) =>
      value === 0
        ? `The queue no longer grows; its depth is ${grouped(depth)}.`
        : `The queue has grown for ${duration(value)}, from ${grouped(grownFrom)} to ${counted(depth, 'delivery')}.`,
  },
  {
    code: 'WBP_ALARM_STALLED',
    option: 'stalledMs',
    clearsAt: zero,
    calmMs: CALM_MS,
    isTimed: true,
    value: ({ stalledMs }) => stalledMs,
    message: (value) =>
      value === 0
        ? 'Deliveries complete again.'
        : `Deliveries are unfinished, and none has completed for ${duration(value)}.`,
  },
  {
    code: 'WBP_ALARM_LOSS_RISK',
    option: 'lossRisk',
    clearsAt: halfCount,
    calmMs: 0,
    isTimed: true,
    value: ({ lossRisk }) => lossRisk,
    message: (value) =>
      `In the last five minutes ${counted(value, 'delivery')} of senders that never retry ${was(value)} refused.`,
  },
  {
    code: 'WBP_ALARM_ENDANGERED',
    option: 'endangered',
    clearsAt: halfCount,
    calmMs: 0,
    isTimed: false,
    value: ({ endangered }) => endangered,
    message: (value) =>
      value === 1
        ? '1 sender is close to disabling the endpoint.'
        : `${counted(value, 'sender')} are close to disabling the endpoint.`,
  },
  {
    code: 'WBP_ALARM_OLDEST_AGE',
    option: 'oldestAgeMs',
    clearsAt: half,
    calmMs: 0,
    isTimed: true,
    value: ({ oldestAgeMs }) => oldestAgeMs,
    message: (value) =>
      value === 0
        ? 'The inbox is empty.'
        : `The oldest unfinished delivery was received ${duration(value)} ago.`,
  },
  {
    code: 'WBP_ALARM_DEAD_LETTERS',
    option: 'deadLetters',
    clearsAt: halfCount,
    calmMs: 0,
    isTimed: true,
    value: ({ dead }) => dead,
    message: (value) =>
      `In the last five minutes ${counted(value, 'delivery')} became ${value === 1 ? 'a dead letter' : 'dead letters'}.`,
  },
  {
    code: 'WBP_ALARM_STORE_FAILING',
    option: 'storeFailingMs',
    clearsAt: zero,
    calmMs: CALM_MS,
    isTimed: true,
    value: ({ storeFailingMs }) => storeFailingMs,
    message: (value) =>
      value === 0 ? 'The store works again.' : `Calls of the store have been failing for ${duration(value)}.`,
  },
  {
    code: 'WBP_ALARM_DISABLED',
    option: 'disabled',
    clearsAt: halfCount,
    calmMs: 0,
    isTimed: true,
    value: ({ disabled }) => disabled,
    message: (value) => `In the last five minutes ${counted(value, 'endpoint')} ${was(value)} disabled.`,
  },
];
