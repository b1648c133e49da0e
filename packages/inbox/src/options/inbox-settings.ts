import {
  checkMarks,
  FIXED as INTAKE_FIXED,
  type Fixtures,
  TUNABLE as INTAKE_TUNABLE,
} from '@webhook-backpressure/core/extend';
import {
  BackpressureError,
  by,
  checkBoolean,
  checkFunction,
  checkInteger,
  checkNumber,
  checkObject,
  checkOneOf,
  current,
  DAY_MS,
  group,
  invalid,
  milliseconds,
  resolve,
  type Row,
  type Rows,
  type SettingsOf,
  update,
} from '@webhook-backpressure/base';
import { type Buckets, checkBuckets } from '@webhook-backpressure/fleet';
import { Encryption, encryptSettings, type EncryptOptions } from '../encryption/encryption.ts';
import { verifiers } from '../verifiers/verifiers.ts';
import { batchSettings, type BatchSettings } from './batch-options.ts';
import { EventHandlers } from './event-handlers.ts';
import type { CurrentInboxOptions, InboxOptions, InboxTunable } from './inbox-options.ts';
import type { LimitsOfKey } from './key-limits.ts';
import {
  checkRole,
  checkStoreAndProcess,
  type InboxRole,
  type ReceiverOptions,
  type WorkerOptions,
} from './roles.ts';

/**
 * Headers that authenticate the sender: anyone who reads the store could impersonate it. Only `verify` needs them, before
 * the delivery is stored.
 */
export const REDACTED: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'api-key',
  'x-api-key',
  'x-auth-token',
  'x-access-token',
  'x-amz-security-token',
  'x-forwarded-access-token',
  'cf-access-client-secret',
  'x-gitlab-token',
  'x-telegram-bot-api-secret-token',
];

/** Whether a header is not stored, by its name in lower case. */
export type Redacts = (name: string) => boolean;

/**
 * Checks the option `redact`.
 *
 * @throws BackpressureError `ERR_WBP_REDACT`
 */
function redaction(given: unknown = REDACTED): Redacts {
  if (typeof given === 'function') return given as Redacts;
  if (!Array.isArray(given) || !given.every((name) => typeof name === 'string')) {
    throw invalid('ERR_WBP_REDACT', 'redact', 'an array of header names, or a function', given);
  }
  const names = new Set(given.map((name) => name.toLowerCase()));
  return (name) => names.has(name);
}

export function withoutRedacted(
  headers: Readonly<Record<string, string>>,
  redacts: Redacts,
): Readonly<Record<string, string>> {
  const kept: [name: string, value: string][] = [];
  const all = Object.entries(headers);
  for (const header of all) if (!redacts(header[0])) kept.push(header);
  // Most deliveries have none of these headers and need no copy.
  return kept.length === all.length ? headers : Object.fromEntries(kept);
}

/** The tunable options, complete and checked. */
export type InboxSettings = PlainSettings & { readonly limits: LimitsOfKey | undefined };

/** Those that a snapshot shows. */
type PlainSettings = SettingsOf<CurrentInboxOptions>;

type Fixed = Omit<InboxOptions<never>, keyof InboxTunable>;

/** The options that are fixed at construction and not used as given. */
interface Kept extends Fixtures {
  readonly wallClock: () => number;
  readonly ordered: boolean;
  readonly batch: BatchSettings;
  readonly buckets: Buckets | undefined;
  readonly redact: Redacts;
  readonly encrypt: Encryption;
}

/** The options that are fixed at construction. */
export interface InboxFixtures extends Omit<Kept, 'ordered' | 'redact' | 'encrypt'> {
  readonly role: InboxRole;
  /** Undefined for a receiver without workers, which leaves the order as it is. */
  readonly isOrdered: boolean | undefined;
  readonly redacts: Redacts;
  readonly encryption: Encryption;
  /** Added to while the inbox runs. */
  readonly handlers: EventHandlers;
}

/** The options of any role. */
export type AnyInboxOptions = InboxOptions<never> | ReceiverOptions<never> | WorkerOptions;

const YEAR_MS = 31_536_000_000;
const WEEK_MS = 604_800_000;
const GIB = 1024 * 1024 * 1024;
const MAX_DEAD_LETTERS = 'ERR_WBP_MAX_DEAD_LETTERS';

const PLAIN: Rows<PlainSettings, Omit<InboxTunable, 'limits'>> = {
  ...INTAKE_TUNABLE,
  capacity: { ...INTAKE_TUNABLE.capacity, default: 100_000 },
  maxWaitMs: { ...INTAKE_TUNABLE.maxWaitMs, default: undefined },
  overflow: { default: 'refuse', check: by(checkOneOf, 'ERR_WBP_OVERFLOW', ['refuse', 'dead-letter']) },
  retry: group<InboxSettings['retry']>(
    'ERR_WBP_RETRY',
    {
      // 5 s, 10 s, 20 s and so on up to 12 h: about 71 h, at least 47 h, so that attempts outlast a weekend.
      attempts: { default: 21, check: by(checkInteger, 'ERR_WBP_RETRY', 1) },
      firstDelayMs: { default: 5000, check: milliseconds('ERR_WBP_RETRY', 0, DAY_MS) },
      maxDelayMs: { default: 43_200_000 },
    },
    ({ firstDelayMs, maxDelayMs }) => {
      checkNumber('ERR_WBP_RETRY', 'retry.maxDelayMs', maxDelayMs, firstDelayMs, WEEK_MS, 'milliseconds');
    },
  ),
  successStatus: group<InboxSettings['successStatus']>('ERR_WBP_SUCCESS_STATUS', {
    // Mailgun, Linear, Paddle and others take any other 2xx for a failure, and retry.
    known: { default: 202, check: checkSuccess },
    unknown: { default: 200, check: checkSuccess },
  }),
  maxBodyBytes: { default: 1024 * 1024, check: by(checkInteger, 'ERR_WBP_MAX_BODY', 1) },
  maxBytes: { default: GIB, check: by(checkInteger, 'ERR_WBP_MAX_BYTES', 1) },
  retentionMs: { default: WEEK_MS, check: milliseconds('ERR_WBP_RETENTION', 0, YEAR_MS) },
  maxRemembered: { default: 1_000_000, check: by(checkInteger, 'ERR_WBP_RETENTION', 1) },
  maxDeadLetters: { default: 100_000, check: by(checkInteger, MAX_DEAD_LETTERS, 1) },
  maxDeadLetterBytes: { default: GIB, check: by(checkInteger, MAX_DEAD_LETTERS, 1) },
  maxDeadLetterAgeMs: { default: undefined, check: milliseconds(MAX_DEAD_LETTERS, 1, YEAR_MS) },
  keepCompletedMs: { default: 0, check: milliseconds('ERR_WBP_KEEP_COMPLETED', 0, YEAR_MS) },
  maxKeptBytes: { default: GIB, check: by(checkInteger, 'ERR_WBP_KEEP_COMPLETED', 1) },
};

const TUNABLE: Rows<InboxSettings, InboxTunable> = {
  ...PLAIN,
  limits: { default: undefined, check: by(checkFunction, 'ERR_WBP_LIMITS') },
};

const CALLBACK = { default: undefined, check: by(checkFunction, 'ERR_WBP_CALLBACK') };
const FIXED: { readonly [K in keyof Fixed]-?: Row<K extends keyof Kept ? Kept[K] : Fixed[K]> } = {
  ...INTAKE_FIXED,
  // What these three may be depends on the role.
  store: {},
  process: {},
  on: {},
  processBatch: {},
  batch: { default: batchSettings(), read: batchSettings },
  coalesce: CALLBACK,
  verify: {},
  context: CALLBACK,
  id: CALLBACK,
  keyGenerator: CALLBACK,
  handshake: CALLBACK,
  notBefore: CALLBACK,
  onDead: CALLBACK,
  ttlMs: { default: undefined, check: checkTtl },
  // Checked where they are used.
  senders: {},
  allowedOrigins: {},
  // A test of an application may replace `Date.now` after this module has been loaded.
  wallClock: { default: () => Date.now(), check: by(checkFunction, 'ERR_WBP_CLOCK') },
  ordered: { default: false, check: by(checkBoolean, 'ERR_WBP_ORDERED') },
  buckets: { default: undefined, check: checkBuckets },
  redact: { default: redaction(), read: redaction },
  encrypt: {
    default: new Encryption(undefined),
    read: (given) => new Encryption(encryptSettings(given as EncryptOptions)),
  },
};

/** @throws BackpressureError with the code of the first option that is wrong. */
export function resolveInboxOptions(
  options: AnyInboxOptions,
  role: InboxRole = 'both',
): {
  settings: InboxSettings;
  fixtures: InboxFixtures;
} {
  checkObject(options, 'options');
  const { verify } = options;
  checkStoreAndProcess(options, role);
  checkRole(options, role);
  if (role !== 'worker' && verify !== false && typeof (verify as unknown) !== 'function') {
    throw invalid('ERR_WBP_VERIFY', 'verify', 'a function, or false to accept unverified deliveries', verify);
  }
  const [uncalled] = Object.entries(verifiers).find(([, make]) => (make as unknown) === verify) ?? [];
  if (uncalled !== undefined) {
    throw new BackpressureError(
      'ERR_WBP_VERIFY',
      `verify must be a verifier, but was the function that makes one. Call it: verifiers.${uncalled}({ secret }).`,
    );
  }
  const settings = checkMarks(resolve<InboxSettings & Kept>({ ...TUNABLE, ...FIXED }, options));
  const { ordered, redact: redacts, encrypt: encryption } = settings;
  const isOrdered = role === 'receiver' ? undefined : ordered;
  checkShapes(options);
  const handlers = new EventHandlers(options.on);
  return { settings, fixtures: { ...settings, role, isOrdered, redacts, encryption, handlers } };
}

/**
 * The settings after an update.
 *
 * @param sharesWorkers - whether deliveries share a worker: with `processBatch` or `coalesce`.
 * @throws BackpressureError with the code of the first option that is wrong.
 */
export function updateInboxSettings(
  present: InboxSettings,
  changes: InboxTunable,
  role: InboxRole,
  sharesWorkers: boolean,
): InboxSettings {
  checkObject(changes, 'update()');
  checkRole(changes, role);
  if (sharesWorkers && changes.limits !== undefined) throw withoutLimits();
  return checkMarks(update(TUNABLE, INTAKE_FIXED, present, changes));
}

export function currentInboxOptions(settings: InboxSettings): CurrentInboxOptions {
  return current<CurrentInboxOptions>(PLAIN, settings);
}

/** A batch of an ordered key would have one delivery, and a group as well. */
function checkShapes({ processBatch, batch, coalesce, ordered, limits }: AnyInboxOptions): void {
  if (batch !== undefined && processBatch === undefined)
    throw new BackpressureError('ERR_WBP_BATCH', 'batch belongs to processBatch, which is missing.');
  if ((processBatch ?? coalesce) === undefined) return;
  if (limits !== undefined) throw withoutLimits();
  const name = processBatch === undefined ? 'coalesce' : 'processBatch';
  if (ordered === true)
    throw new BackpressureError('ERR_WBP_ORDERED', `${name} cannot be combined with ordered.`);
}

/** A token is for one start of a handler, and these look for more deliveries after it was taken. */
function withoutLimits(): BackpressureError {
  return new BackpressureError('ERR_WBP_LIMITS', 'limits cannot be combined with processBatch or coalesce.');
}

function checkTtl(given: unknown, name: string): void {
  if (typeof given === 'function') return;
  if (typeof given === 'number' && given >= 1 && given <= YEAR_MS) return;
  throw invalid('ERR_WBP_TTL', name, 'milliseconds from 1 to 31,536,000,000, or a function', given);
}

function checkSuccess(given: unknown, name: string): void {
  if (Number.isInteger(given) && (given as number) >= 200 && (given as number) <= 299) return;
  throw invalid('ERR_WBP_SUCCESS_STATUS', name, 'an integer from 200 to 299', given);
}
