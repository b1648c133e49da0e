import {
  BackpressureError,
  checkNumber,
  checkOneOf,
  checkObject,
  DAY_MS,
  glanceAt,
  invalid,
  isThenable,
  readableErrors,
  requireSync,
  thrownText,
} from '@webhook-backpressure/base';
import {
  asksPermission,
  builtInSenders,
  cloudEventsHandshake,
  createRecognition,
  idOf,
  type RequestHeaders,
  resolveSenders,
} from '@webhook-backpressure/senders';
import { type Delivery, describedDelivery } from '../delivery/delivery.ts';
import { deliveryOf } from '../delivery/recognized-delivery.ts';
import type { WarningCode } from '../delivery/events.ts';
import type { Refusal } from '../delivery/refusal.ts';
import type { Warn } from '../delivery/warnings.ts';
import { BoundedIntake } from '../intake/bounded-intake.ts';
import type { Intake } from '../intake/intake.ts';
import { resolveOptions } from '../intake/options.ts';
import { type FieldStyle, rateLimitFields } from '../refusals/rate-limit-fields.ts';
import { FirstUse } from './first-use.ts';
import { Handling } from './handling.ts';
import { keyAsker } from './key-asker.ts';
import type { MiddlewareOptions } from './middleware-options.ts';
import { MountWatch } from './mount-watch.ts';
import { passedThrough } from './passed.ts';
import { pathMatcher } from './paths.ts';
import type { HttpAnswer } from './problem.ts';

/** How an adapter reads a request. */
export interface RequestReader<R> {
  /** The HTTP method, in upper case. */
  method(request: R): string;
  /** The object that stays the same while the request passes through everything that is mounted. */
  identity(request: R): object;
  /** The targets of the request, not decoded: as it arrived, and as routers see it if they see another one. */
  targets(request: R): readonly string[];
  /** All headers, names in lower case. */
  headers(request: R): RequestHeaders;
  /** Whether the middleware is mounted where it gets every request of the app. Absent if that is intended or unknown. */
  isForWholeApp?(request: R): boolean;
  /** Shows the operator a warning about a likely misconfiguration. */
  warn: Warn;
}

/** Whether a request passes untouched, or the answer to one that asks for permission to send deliveries. */
export type Skip = boolean | HttpAnswer;

/** What all middlewares share: which requests are deliveries, and whether the intake admits them. */
export interface AdmissionControl<R> {
  /** The intake that admits or refuses: the option, or the one created from the options. */
  readonly intake: Intake;
  /**
   * Whether the request is not a delivery, or has been through this intake already: a request counts once, also if both
   * the app and a route mount the middleware. A promise only if the option `skip` returns one. Or the answer to a
   * handshake, which the adapter sends.
   */
  skips(request: R): Skip | Promise<Skip>;
  /** The delivery that the request carries. */
  read(request: R): Delivery;
  /** Whether the delivery would be admitted now. If not, its body need not be awaited. */
  accepts(delivery: Delivery): boolean;
  /**
   * Admits or refuses the delivery.
   *
   * @param ageMs - how long the sender has waited since its request arrived.
   */
  admit(delivery: Delivery, ageMs?: number): Handling | Refusal;
  /** The option of this name. */
  readonly bodyTimeoutMs: number;
  /** Shows the operator a warning of this code, once per middleware. */
  warnOnce(code: WarningCode, message: string): void;
  /** The rate-limit headers for an answer, or undefined if the options ask for none. */
  fields(refusal?: Refusal): Record<string, string> | undefined;
}

const UNGUARDED = new Set(['GET', 'HEAD', 'OPTIONS']);
/** The middleware's own options, except `intake`. */
const OWN_NAMES = [
  'path',
  'skip',
  'keyGenerator',
  'delivery',
  'senders',
  'standardHeaders',
  'legacyHeaders',
  'allowedOrigins',
  'bodyTimeoutMs',
  'onRefused',
] as const;
type OwnNames = (typeof OWN_NAMES)[number];

const BODY_TIMEOUT_MS = 5000;
/** A request takes this long without having waited. */
const MIN_AGE_MS = 10;

/**
 * The part of the middleware that is the same for every framework. Adapters are built on it.
 *
 * @throws BackpressureError with the code of the first option that is wrong.
 */
export function createAdmissionControl<R, A extends readonly unknown[]>(
  options: MiddlewareOptions<R, A>,
  reader: RequestReader<R>,
): AdmissionControl<R> {
  const { intake, ...own } = split(options, reader.warn);
  const skip = readableErrors(own.skip);
  const keyGenerator = readableErrors(own.keyGenerator);
  const describe = readableErrors(own.delivery);
  const recognition = createRecognition([...resolveSenders(own.senders), ...builtInSenders]);
  const style = checkOwn(own);
  const isBelowPath = pathMatcher(own.path);
  const handshake = cloudEventsHandshake(intake, own.allowedOrigins);
  const askKey = keyAsker(reader.warn);
  const passed = passedThrough(intake);
  const { bodyTimeoutMs = BODY_TIMEOUT_MS } = own;
  const warned = new Set<WarningCode>();
  const warnOnce = (code: WarningCode, message: string): void => {
    if (warned.has(code)) return;
    warned.add(code);
    reader.warn(code, message);
  };
  const watch =
    isBelowPath === undefined && options.skip === undefined && reader.isForWholeApp !== undefined
      ? new MountWatch(reader, (message) => {
          warnOnce('WBP_WHOLE_APP', message);
        })
      : undefined;
  // A shared intake has been created elsewhere, and a clock is passed in by tests.
  const firstUse =
    options.intake === undefined && options.clock === undefined
      ? new FirstUse(intake, (line) => {
          warnOnce(
            'WBP_IN_HANDLER',
            `A middleware is created for each request (${line}), so each request has a queue for itself and nothing is ` +
              'limited. Create it once, outside of the handler.',
          );
        })
      : undefined;
  const onFailedWork = (error: unknown): void => {
    warnOnce(
      'WBP_WORK_FAILED',
      `A promise that was given to waitUntil has been rejected: ${thrownText(error)}`,
    );
  };

  const answered = (request: R): HttpAnswer | undefined => {
    // Before the headers are read, which some frameworks copy.
    if (reader.method(request) !== 'OPTIONS') return undefined;
    const headers = reader.headers(request);
    return asksPermission('OPTIONS', headers) ? handshake(headers) : undefined;
  };
  const decided = (request: R, skips: unknown): Skip => Boolean(skips) || (answered(request) ?? false);

  return {
    intake,
    bodyTimeoutMs,
    warnOnce,
    skips(request) {
      if (passed.has(reader.identity(request))) return true;
      if (isBelowPath?.(reader.targets(request)) === false) return true;
      if (skip === undefined) return UNGUARDED.has(reader.method(request)) && (answered(request) ?? true);
      const skips: unknown = skip(request);
      if (!isThenable(skips)) return decided(request, skips);
      return Promise.resolve(skips).then((later) => decided(request, later));
    },
    read(request) {
      firstUse?.note();
      passed.add(reader.identity(request));
      const headers = reader.headers(request);
      const profile = recognition.find(headers);
      watch?.note(request, profile !== undefined);
      const found = profile === undefined ? { id: idOf(undefined, headers) } : deliveryOf(profile, headers);
      const key = keyGenerator === undefined ? undefined : askKey(keyGenerator(request));
      if (key !== undefined) found.key = key;
      if (describe !== undefined)
        Object.assign(
          found,
          defined(
            describedDelivery(requireSync('ERR_WBP_CALLBACK', 'delivery', 'an object', describe(request))),
          ),
        );
      return found;
    },
    accepts: (delivery) => intake.accepts(delivery),
    admit(delivery, ageMs = 0) {
      if (ageMs >= MIN_AGE_MS) delivery.ageMs = Math.max(ageMs, delivery.ageMs ?? 0);
      const place = intake.admit(delivery);
      return place.admitted ? new Handling(delivery, place, onFailedWork) : place;
    },
    fields: (refusal) =>
      style === undefined ? undefined : rateLimitFields(glanceAt(intake), style, refusal),
  };
}

type OwnOptions<R, A extends readonly unknown[]> = Pick<MiddlewareOptions<R, A>, OwnNames>;

/** Separates the middleware's own options from the intake's, and creates the intake unless one is given. */
function split<R, A extends readonly unknown[]>(
  options: MiddlewareOptions<R, A>,
  warn: Warn,
): OwnOptions<R, A> & { intake: Intake } {
  checkObject(options, 'options');
  const { intake, path, skip, keyGenerator, delivery, senders, ...others } = options;
  const { standardHeaders, legacyHeaders, allowedOrigins, bodyTimeoutMs, onRefused, ...rest } = others;
  const headers = { standardHeaders, legacyHeaders, allowedOrigins };
  const own = { path, skip, keyGenerator, delivery, senders, ...headers, bodyTimeoutMs, onRefused };
  if (intake === undefined)
    return { ...own, intake: new BoundedIntake(resolveOptions(rest, ['intake', ...OWN_NAMES]), warn) };

  if (
    typeof (intake as unknown) !== 'object' ||
    typeof (intake as Partial<Intake> | null)?.admit !== 'function'
  ) {
    const rule = 'an intake made by createIntake(), or the .intake of a middleware';
    throw invalid('ERR_WBP_INTAKE', 'intake', rule, intake);
  }
  const [beside] = Object.keys(defined(rest));
  if (beside !== undefined) {
    throw new BackpressureError(
      'ERR_WBP_INTAKE',
      `${beside} cannot be set together with intake. Pass it to createIntake() instead.`,
    );
  }
  return { ...own, intake };
}

function checkOwn<R, A extends readonly unknown[]>(own: OwnOptions<R, A>): FieldStyle | undefined {
  for (const name of ['skip', 'keyGenerator', 'delivery', 'onRefused'] as const) {
    const value: unknown = own[name];
    if (value !== undefined && typeof value !== 'function') {
      throw invalid('ERR_WBP_CALLBACK', name, 'a function', value);
    }
  }
  const { bodyTimeoutMs = BODY_TIMEOUT_MS } = own;
  checkNumber('ERR_WBP_BODY_TIMEOUT', 'bodyTimeoutMs', bodyTimeoutMs, 1, DAY_MS, 'milliseconds');
  const {
    standardHeaders = false,
    legacyHeaders = false,
  }: { standardHeaders?: unknown; legacyHeaders?: unknown } = own;
  checkOneOf('ERR_WBP_HEADERS', 'standardHeaders', standardHeaders, ['draft-8', 'draft-11', false]);
  if (typeof legacyHeaders !== 'boolean')
    throw invalid('ERR_WBP_HEADERS', 'legacyHeaders', 'a boolean', legacyHeaders);
  return standardHeaders === false && !legacyHeaders
    ? undefined
    : { standard: standardHeaders !== false, legacy: legacyHeaders };
}

function defined<T extends object>(given: T | undefined): Partial<T> {
  return Object.fromEntries(
    Object.entries(given ?? {}).filter(([, value]) => value !== undefined),
  ) as Partial<T>;
}
