import { alarmSettings, INBOX_ALARM_DEFAULTS, type InboxAlarmSettings } from '../../alarms/alarm-options.ts';
import { checkInteger, checkNumber, checkOneOf, DAY_MS } from '../../checks.ts';
import { invalid } from '../../errors.ts';
import { checkNames, checkObject } from '../../option-names.ts';
import {
  resolveOptions,
  updateSettings,
  type Fixtures,
  type IntakeOptions,
  type Settings,
} from '../../intake/options.ts';
import { encryptSettings } from '../encryption/encrypt-options.ts';
import type { InboxOptions, InboxTunable, RetryOptions, SuccessStatusOptions } from './inbox-options.ts';
import { redaction, type Redacts } from './redaction.ts';
import type { ReceiverOptions, WorkerOptions } from './role-options.ts';
import { checkRole, checkStoreAndProcess, type InboxRole } from './roles.ts';
import { Encryption } from '../encryption/encryption.ts';

/** The tunable options, complete and checked. */
export interface InboxSettings {
  /** The options shared with an intake. `longestWaitMs` replaces its `maxWaitMs`. */
  readonly intake: Settings;
  /** Infinity without `maxWaitMs`. */
  readonly longestWaitMs: number;
  readonly overflow: 'refuse' | 'dead-letter';
  readonly retry: { readonly attempts: number; readonly firstDelayMs: number; readonly maxDelayMs: number };
  readonly successStatus: { readonly known: number; readonly unknown: number };
  readonly maxBodyBytes: number;
  readonly maxBytes: number;
  readonly retentionMs: number;
  readonly maxRemembered: number;
  readonly maxShelved: number;
  readonly maxShelvedBytes: number;
  readonly maxShelvedAgeMs: number | undefined;
  readonly keepCompletedMs: number;
  readonly maxKeptBytes: number;
  readonly alarms: InboxAlarmSettings | false;
}

/** The options that are fixed at construction. */
export interface InboxFixtures extends Omit<Fixtures, 'dryRun'> {
  readonly role: InboxRole;
  readonly dryRun: boolean;
  readonly wallClock: () => number;
  /** Undefined for a receiver without workers, which leaves the order as it is. */
  readonly isOrdered: boolean | undefined;
  readonly redacts: Redacts;
  readonly encryption: Encryption;
}

const YEAR_MS = 31_536_000_000;
const WEEK_MS = 604_800_000;
const DEFAULT_CAPACITY = 100_000;
const DEFAULTS: Omit<InboxSettings, 'intake' | 'longestWaitMs'> = {
  overflow: 'refuse',
  // 5 s, 10 s, 20 s and so on up to 12 h: about 71 h, at least 47 h, so that attempts outlast a weekend.
  retry: { attempts: 21, firstDelayMs: 5000, maxDelayMs: 43_200_000 },
  // Mailgun, Linear, Paddle and others take any other 2xx for a failure, and retry.
  successStatus: { known: 202, unknown: 200 },
  maxBodyBytes: 1024 * 1024,
  maxBytes: 1024 * 1024 * 1024,
  retentionMs: 604_800_000,
  maxRemembered: 1_000_000,
  maxShelved: 100_000,
  maxShelvedBytes: 1024 * 1024 * 1024,
  maxShelvedAgeMs: undefined,
  keepCompletedMs: 0,
  maxKeptBytes: 1024 * 1024 * 1024,
  alarms: INBOX_ALARM_DEFAULTS,
};
const RETRY = Object.keys(DEFAULTS.retry);
const SUCCESS_STATUS = Object.keys(DEFAULTS.successStatus);
const OWN_TUNABLE = Object.keys(DEFAULTS);
const OWN = [
  ...OWN_TUNABLE,
  ...[
    'store',
    'process',
    'verify',
    'context',
    'id',
    'keyGenerator',
    'handshake',
    'onDead',
    'senders',
    'wallClock',
    'ordered',
    'redact',
    'encrypt',
  ],
];
const CALLBACKS = ['context', 'id', 'keyGenerator', 'handshake', 'onDead'] as const;
/** The options of any role. */
export type AnyInboxOptions = InboxOptions<never> | ReceiverOptions<never> | WorkerOptions;

/**
 * Separates the inbox's own options from the intake's, and checks all of them.
 *
 * @throws BackpressureError with the code of the first option that is wrong.
 */
export function resolveInboxOptions(
  options: AnyInboxOptions,
  role: InboxRole = 'both',
): {
  settings: InboxSettings;
  fixtures: InboxFixtures;
} {
  checkObject(options, 'options');
  const { store, process, verify, wallClock = Date.now, ordered: isOrdered = false } = options;
  const others = without(options, OWN);
  checkStoreAndProcess(store, process, role);
  checkRole(options, role);
  if (role !== 'worker' && verify !== false && typeof (verify as unknown) !== 'function') {
    throw invalid('ERR_WBP_VERIFY', 'verify', 'a function, or false to accept unverified deliveries', verify);
  }
  for (const name of CALLBACKS) {
    const callback: unknown = options[name];
    if (callback !== undefined && typeof callback !== 'function') {
      throw invalid('ERR_WBP_CALLBACK', name, 'a function', callback);
    }
  }
  if (typeof wallClock !== 'function') throw invalid('ERR_WBP_CLOCK', 'wallClock', 'a function', wallClock);
  if (typeof isOrdered !== 'boolean') throw invalid('ERR_WBP_ORDERED', 'ordered', 'a boolean', isOrdered);
  const { capacity = DEFAULT_CAPACITY, maxWaitMs } = options;
  const { dryRun, isPressed, clock, random, ...intake } = resolveOptions({ ...others, capacity }, OWN);
  const settings = settle({ ...DEFAULTS, intake, longestWaitMs: maxWaitMs ?? Infinity }, options);
  const redacts = redaction(options.redact);
  const encryption = new Encryption(encryptSettings(options.encrypt));
  const given = { dryRun, isPressed, clock, random, wallClock };
  return {
    settings,
    fixtures: { ...given, role, isOrdered: role === 'receiver' ? undefined : isOrdered, redacts, encryption },
  };
}

/**
 * The settings after an update.
 *
 * @throws BackpressureError with the code of the first option that is wrong.
 */
export function updateInboxSettings(
  current: InboxSettings,
  changes: InboxTunable,
  role: InboxRole,
): InboxSettings {
  checkObject(changes, 'update()');
  checkRole(changes, role);
  const intake = updateSettings(current.intake, without(changes, OWN_TUNABLE), OWN_TUNABLE);
  const longestWaitMs = changes.maxWaitMs ?? current.longestWaitMs;
  return settle({ ...current, intake, longestWaitMs }, changes);
}

/** Only `undefined` means absent: `null` is reported as an error. */
function or<T>(given: T | undefined, base: T): T {
  return given === undefined ? base : given;
}

function settle(base: InboxSettings, given: InboxTunable): InboxSettings {
  const settings: InboxSettings = {
    ...base,
    overflow: or(given.overflow, base.overflow),
    retry: retrySettings(base.retry, given.retry),
    successStatus: successStatus(base.successStatus, given.successStatus),
    maxBodyBytes: or(given.maxBodyBytes, base.maxBodyBytes),
    maxBytes: or(given.maxBytes, base.maxBytes),
    retentionMs: or(given.retentionMs, base.retentionMs),
    maxRemembered: or(given.maxRemembered, base.maxRemembered),
    maxShelved: or(given.maxShelved, base.maxShelved),
    maxShelvedBytes: or(given.maxShelvedBytes, base.maxShelvedBytes),
    maxShelvedAgeMs: or(given.maxShelvedAgeMs, base.maxShelvedAgeMs),
    keepCompletedMs: or(given.keepCompletedMs, base.keepCompletedMs),
    maxKeptBytes: or(given.maxKeptBytes, base.maxKeptBytes),
    alarms: alarmSettings(INBOX_ALARM_DEFAULTS, base.alarms, given.alarms),
  };
  checkOneOf('ERR_WBP_OVERFLOW', 'overflow', settings.overflow, ['refuse', 'dead-letter']);
  const { attempts, firstDelayMs, maxDelayMs } = settings.retry;
  checkInteger('ERR_WBP_RETRY', 'retry.attempts', attempts, 1);
  checkNumber('ERR_WBP_RETRY', 'retry.firstDelayMs', firstDelayMs, 0, DAY_MS, 'milliseconds');
  checkNumber('ERR_WBP_RETRY', 'retry.maxDelayMs', maxDelayMs, firstDelayMs, WEEK_MS, 'milliseconds');
  for (const [name, status] of Object.entries(settings.successStatus)) {
    if (!isSuccess(status))
      throw invalid('ERR_WBP_SUCCESS_STATUS', `successStatus.${name}`, 'an integer from 200 to 299', status);
  }
  checkInteger('ERR_WBP_MAX_BODY', 'maxBodyBytes', settings.maxBodyBytes, 1);
  checkInteger('ERR_WBP_MAX_BYTES', 'maxBytes', settings.maxBytes, 1);
  checkNumber('ERR_WBP_RETENTION', 'retentionMs', settings.retentionMs, 0, YEAR_MS, 'milliseconds');
  checkInteger('ERR_WBP_RETENTION', 'maxRemembered', settings.maxRemembered, 1);
  checkInteger('ERR_WBP_MAX_SHELVED', 'maxShelved', settings.maxShelved, 1);
  checkInteger('ERR_WBP_MAX_SHELVED', 'maxShelvedBytes', settings.maxShelvedBytes, 1);
  const { maxShelvedAgeMs, keepCompletedMs } = settings;
  if (maxShelvedAgeMs !== undefined)
    checkNumber('ERR_WBP_MAX_SHELVED', 'maxShelvedAgeMs', maxShelvedAgeMs, 1, YEAR_MS, 'milliseconds');
  checkNumber('ERR_WBP_KEEP_COMPLETED', 'keepCompletedMs', keepCompletedMs, 0, YEAR_MS, 'milliseconds');
  checkInteger('ERR_WBP_KEEP_COMPLETED', 'maxKeptBytes', settings.maxKeptBytes, 1);
  return settings;
}

function retrySettings(
  base: InboxSettings['retry'],
  given: RetryOptions | undefined,
): InboxSettings['retry'] {
  if (given === undefined) return base;
  checkNames(given, 'retry', RETRY, 'ERR_WBP_RETRY');
  const { attempts = base.attempts, firstDelayMs = base.firstDelayMs, maxDelayMs = base.maxDelayMs } = given;
  return { attempts, firstDelayMs, maxDelayMs };
}

function successStatus(
  base: InboxSettings['successStatus'],
  given: SuccessStatusOptions | undefined,
): InboxSettings['successStatus'] {
  if (given === undefined) return base;
  checkNames(given, 'successStatus', SUCCESS_STATUS, 'ERR_WBP_SUCCESS_STATUS');
  return { known: or(given.known, base.known), unknown: or(given.unknown, base.unknown) };
}

function isSuccess(status: unknown): boolean {
  return Number.isInteger(status) && (status as number) >= 200 && (status as number) <= 299;
}

/** The options except those of these names. */
function without(options: AnyInboxOptions | InboxTunable, names: readonly string[]): IntakeOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !names.includes(name)));
}
