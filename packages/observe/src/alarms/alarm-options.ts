import {
  BackpressureError,
  checkInteger,
  checkNames,
  checkNumber,
  DAY_MS,
  invalid,
  show,
} from '@webhook-backpressure/base';

/** When alarms are raised. A threshold that is `false` turns its alarm off. An update keeps fields that are absent. */
export interface AlarmOptions {
  /** The refused share of the arrivals of the last five minutes, above 0 and below 1. Default 0.05: more than 5 %. */
  refusedRatio?: number | false | undefined;
  /** Below this many arrivals in five minutes, `refusedRatio` raises no alarm. Integer ≥ 1, default 20. */
  minArrivals?: number | undefined;
  /** How long the queue has been growing, in milliseconds, from 60,000 to 86,400,000. Default 600,000: ten minutes. */
  growingMs?: number | false | undefined;
  /**
   * How long all workers have been busy without a completion, in milliseconds, from 1 to 86,400,000. Default 10,000. An
   * alarm also requires the state `stalled`: ten mean handling times without a completion.
   */
  stalledMs?: number | false | undefined;
  /**
   * Deliveries of senders that never retry, refused in the last five minutes. Integer ≥ 1, default 1.
   */
  lossRisk?: number | false | undefined;
  /** Senders close to disabling the endpoint. Integer ≥ 1, default 1. */
  endangered?: number | false | undefined;
}

/** The alarms of an inbox: those of an intake, and three more. */
export interface InboxAlarmOptions extends AlarmOptions {
  /** The age of the oldest unfinished delivery, in milliseconds, from 1 to 604,800,000. Default 900,000: 15 minutes. */
  oldestAgeMs?: number | false | undefined;
  /** Deliveries that became dead letters in the last five minutes. Integer ≥ 1, default 1. */
  deadLetters?: number | false | undefined;
  /** How long calls of the store have been failing, in milliseconds, from 1 to 86,400,000. Default 10,000. */
  storeFailingMs?: number | false | undefined;
}

/** The alarms of a sender. A threshold that is `false` turns its alarm off. */
export interface OutboxAlarmOptions {
  /**
   * The share of an endpoint's attempts of the last five minutes after which it asked to wait, above 0 and below 1. Default
   * 0.05: more than 5 %.
   */
  limitedRatio?: number | false | undefined;
  /** Below this many attempts at an endpoint in five minutes, `limitedRatio` raises no alarm. Integer ≥ 1, default 20. */
  minAttempts?: number | undefined;
  /** Queued events of one endpoint. Integer ≥ 1. Default 100: more than 100. */
  queued?: number | false | undefined;
  /**
   * The mean time from `send` to the delivery at an endpoint, of the last five minutes, in milliseconds, from 1 to
   * 604,800,000. Default 60,000: more than a minute.
   */
  meanLatencyMs?: number | false | undefined;
  /** How long the outbox has been growing, in milliseconds, from 60,000 to 86,400,000. Default 600,000: ten minutes. */
  growingMs?: number | false | undefined;
  /** Events that became dead letters in the last five minutes. Integer ≥ 1, default 1. */
  deadLetters?: number | false | undefined;
  /** Endpoints that were disabled in the last five minutes. Integer ≥ 1, default 1. */
  disabled?: number | false | undefined;
  /** How long calls of the store have been failing, in milliseconds, from 1 to 86,400,000. Default 10,000. */
  storeFailingMs?: number | false | undefined;
}

/** The options of an intake's alarms, complete and valid. */
export type AlarmSettings = { readonly [K in keyof AlarmOptions]-?: Exclude<AlarmOptions[K], undefined> };
/** The options of an inbox's alarms, complete and valid. */
export type InboxAlarmSettings = {
  readonly [K in keyof InboxAlarmOptions]-?: Exclude<InboxAlarmOptions[K], undefined>;
};
/** The options of a sender's alarms, complete and valid. */
export type OutboxAlarmSettings = {
  readonly [K in keyof OutboxAlarmOptions]-?: Exclude<OutboxAlarmOptions[K], undefined>;
};

export const ALARM_DEFAULTS: AlarmSettings = {
  refusedRatio: 0.05,
  minArrivals: 20,
  growingMs: 600_000,
  stalledMs: 10_000,
  lossRisk: 1,
  endangered: 1,
};

export const INBOX_ALARM_DEFAULTS: InboxAlarmSettings = {
  ...ALARM_DEFAULTS,
  oldestAgeMs: 900_000,
  deadLetters: 1,
  storeFailingMs: 10_000,
};

export const OUTBOX_ALARM_DEFAULTS: OutboxAlarmSettings = {
  limitedRatio: 0.05,
  minAttempts: 20,
  queued: 100,
  meanLatencyMs: 60_000,
  growingMs: 600_000,
  deadLetters: 1,
  disabled: 1,
  storeFailingMs: 10_000,
};

const CODE = 'ERR_WBP_ALARMS';
const WEEK_MS = 604_800_000;

/** The ranges of the thresholds in milliseconds. The options without a range are counts, except for the two ratios. */
const RANGES_MS: Readonly<Record<string, readonly [min: number, max: number]>> = {
  growingMs: [60_000, DAY_MS],
  stalledMs: [1, DAY_MS],
  oldestAgeMs: [1, WEEK_MS],
  meanLatencyMs: [1, WEEK_MS],
  storeFailingMs: [1, DAY_MS],
};

/**
 * The settings after a change of the option `alarms`. An object turns alarms on again that were off as a whole.
 *
 * @param defaults - the defaults of an intake, an inbox or a sender, which say what options there are.
 * @throws BackpressureError `ERR_WBP_ALARMS`, or `ERR_WBP_UNKNOWN_OPTION`.
 */
export function alarmSettings<S extends object>(defaults: S, base: S | false, given: unknown): S | false {
  if (given === undefined) return base;
  if (given === false) return false;
  if (typeof given !== 'object' || given === null) {
    throw invalid(CODE, 'alarms', 'an object of thresholds, or false', given);
  }
  checkNames(given, 'alarms', Object.keys(defaults), CODE);
  const settings = { ...(base === false ? defaults : base) };
  for (const [name, value] of Object.entries(given) as [keyof S & string, unknown][]) {
    if (value === undefined) continue;
    check(name, value);
    settings[name] = value as S[typeof name];
  }
  return settings;
}

function check(name: string, value: unknown): void {
  // The other two are conditions of another alarm, and have none to turn off.
  if (value === false && name !== 'minArrivals' && name !== 'minAttempts') return;
  const option = `alarms.${name}`;
  const range = RANGES_MS[name];
  if (range !== undefined) {
    checkNumber(CODE, option, value, ...range, 'milliseconds');
  } else if (!name.endsWith('Ratio')) {
    checkInteger(CODE, option, value, 1);
  } else if (!(typeof value === 'number' && value > 0 && value < 1)) {
    throw new BackpressureError(
      CODE,
      `${option} must be a fraction above 0 and below 1, or false, but was ${show(value)}.`,
    );
  }
}
