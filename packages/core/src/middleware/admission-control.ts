import { BoundedIntake } from '../intake/bounded-intake.ts';
import { checkNumber, DAY_MS, isThenable, requireSync } from '../checks.ts';
import { describedDelivery, type Delivery } from '../delivery/delivery.ts';
import { deliveryOf } from '../delivery/recognized-delivery.ts';
import { BackpressureError, invalid, thrownText } from '../errors.ts';
import type { WarningCode } from '../delivery/events.ts';
import { Handling } from './handling.ts';
import type { Intake } from '../intake/intake.ts';
import { keyAsker } from './key-generator.ts';
import { passedThrough } from './passed.ts';
import { checkObject } from '../option-names.ts';
import { resolveOptions, type IntakeOptions } from '../intake/options.ts';
import { rateLimitFields, type FieldStyle } from '../refusals/rate-limit-fields.ts';
import { createRecognition, idOf } from '../senders/recognition.ts';
import type { Refusal } from '../delivery/refusal.ts';
import { resolveSenders } from '../senders/resolve-senders.ts';
import type { RequestHeaders, SenderProfile } from '../senders/sender-profile.ts';
import { builtInSenders } from '../senders/profiles/built-in.ts';
import type { Warn } from '../delivery/warnings.ts';

/** The options that every middleware has beside those of the intake. `R` is what the framework calls a request. */
export interface MiddlewareOptions<
  R,
  HandlerArguments extends readonly unknown[] = readonly unknown[],
> extends IntakeOptions {
  /** An intake to share between routes, apps and frameworks. Then no option of an intake may stand beside it. */
  intake?: Intake | undefined;
  /** Requests that are no deliveries and pass untouched. Default: those whose method is GET, HEAD or OPTIONS. */
  skip?: ((request: R) => boolean | Promise<boolean>) | undefined;
  /**
   * The key of a delivery: a string. Synchronous, so that refusing stays cheap. Default, and where it returns
   * `undefined` or `null`: the name of the recognised sender, else `default`. Any other value is ignored too, with
   * one warning `WBP_KEY`.
   */
  keyGenerator?: ((request: R) => string | null | undefined) | undefined;
  /** What else is known about a delivery. Its fields override all others. Synchronous. */
  delivery?: ((request: R) => Delivery) | undefined;
  /** Profiles of senders, looked at before the built-in ones: the first that matches counts. Default none. */
  senders?: readonly SenderProfile[] | undefined;
  /** `draft-8`: adds RateLimit and RateLimit-Policy to every answer. Default false. */
  standardHeaders?: 'draft-8' | false | undefined;
  /** Adds X-RateLimit-Limit, -Remaining and -Reset to every answer. Default false. */
  legacyHeaders?: boolean | undefined;
  /**
   * How long a sender may take to send the body, in milliseconds. From 1 to 86,400,000, default 5,000. A delivery gets
   * a worker when its body has arrived, or fills the buffer of the runtime; until then it holds no place. One that
   * takes longer is answered with 408. On node:http; elsewhere nobody can see how much of a body has arrived.
   */
  bodyTimeoutMs?: number | undefined;
  /** Answers a refusal itself, in place of the middleware. Its headers are not set by then. */
  handler?: ((refusal: Refusal, ...rest: HandlerArguments) => unknown) | undefined;
}

/** How an adapter reads a request. */
export interface RequestReader<R> {
  method(request: R): string;
  /** The object that stays the same while the request passes through all that is mounted. */
  identity(request: R): object;
  /** All headers, names in lower case. */
  headers(request: R): RequestHeaders;
  /** Shows the operator a warning: what works, and yet is not what is wanted. */
  warn: Warn;
}

/** What a middleware decides before it knows how the intake will answer. */
export interface AdmissionControl<R> {
  readonly intake: Intake;
  /**
   * Whether the request is no delivery, or has been through this intake: mounted twice, by the app and by a route,
   * it counts once. A promise only where the option `skip` returns one.
   */
  skips(request: R): boolean | Promise<boolean>;
  /** The delivery that the request carries. */
  read(request: R): Delivery;
  /** Whether it would be admitted now: a large body of one that would not be need not be waited for. */
  accepts(delivery: Delivery): boolean;
  /**
   * Admits it, or refuses it.
   *
   * @param ageMs - how long the sender has waited since its request arrived.
   */
  admit(delivery: Delivery, ageMs?: number): Handling | Refusal;
  /** The option. */
  readonly bodyTimeoutMs: number;
  /** Shows the operator a warning, once in the life of this middleware. */
  warnOnce(code: WarningCode, message: string): void;
  /** The rate-limit headers for an answer, or undefined when none are wanted. */
  fields(refusal?: Refusal): Record<string, string> | undefined;
}

const UNGUARDED = new Set(['GET', 'HEAD', 'OPTIONS']);
/** The middleware's own options beside `intake`. */
const OWN_NAMES = [
  'skip',
  'keyGenerator',
  'delivery',
  'senders',
  'standardHeaders',
  'legacyHeaders',
  'bodyTimeoutMs',
  'handler',
] as const;
type OwnNames = (typeof OWN_NAMES)[number];

const BODY_TIMEOUT_MS = 5000;
/** What a request takes in any case is no wait. */
const LEAST_AGE_MS = 10;

/**
 * The part of a middleware that is the same for every framework: what adapters translate to.
 *
 * @throws BackpressureError with the code of the first option that is wrong.
 */
export function createAdmissionControl<R, A extends readonly unknown[]>(
  options: MiddlewareOptions<R, A>,
  reader: RequestReader<R>,
): AdmissionControl<R> {
  const { intake, ...own } = split(options, reader.warn);
  const { skip, keyGenerator, delivery: describe } = own;
  const recognition = createRecognition([...resolveSenders(own.senders), ...builtInSenders]);
  const style = checkOwn(own);
  const askKey = keyAsker(reader.warn);
  const passed = passedThrough(intake);
  const { bodyTimeoutMs = BODY_TIMEOUT_MS } = own;
  const warned = new Set<WarningCode>();
  const warnOnce = (code: WarningCode, message: string): void => {
    if (warned.has(code)) return;
    warned.add(code);
    reader.warn(code, message);
  };
  const onFailedWork = (error: unknown): void => {
    warnOnce(
      'WBP_WORK_FAILED',
      `A promise that was given to waitUntil has been rejected: ${thrownText(error)}`,
    );
  };

  return {
    intake,
    bodyTimeoutMs,
    warnOnce,
    skips(request) {
      if (passed.has(reader.identity(request))) return true;
      if (skip === undefined) return UNGUARDED.has(reader.method(request));
      const skips: unknown = skip(request);
      return isThenable(skips) ? Promise.resolve(skips).then(Boolean) : Boolean(skips);
    },
    read(request) {
      passed.add(reader.identity(request));
      const headers = reader.headers(request);
      const profile = recognition.find(headers);
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
      if (ageMs >= LEAST_AGE_MS) delivery.ageMs = Math.max(ageMs, delivery.ageMs ?? 0);
      const place = intake.admit(delivery);
      return place.admitted ? new Handling(delivery, place, onFailedWork) : place;
    },
    fields: (refusal) =>
      style === undefined ? undefined : rateLimitFields(intake.snapshot(), style, refusal),
  };
}

type OwnOptions<R, A extends readonly unknown[]> = Pick<MiddlewareOptions<R, A>, OwnNames>;

/** Tells the middleware's own options from the intake's, and makes the intake unless one is given. */
function split<R, A extends readonly unknown[]>(
  options: MiddlewareOptions<R, A>,
  warn: Warn,
): OwnOptions<R, A> & { intake: Intake } {
  checkObject(options, 'options');
  const { intake, skip, keyGenerator, delivery, senders, ...others } = options;
  const { standardHeaders, legacyHeaders, bodyTimeoutMs, handler, ...rest } = others;
  const headers = { standardHeaders, legacyHeaders };
  const own = { skip, keyGenerator, delivery, senders, ...headers, bodyTimeoutMs, handler };
  if (intake === undefined)
    return { ...own, intake: new BoundedIntake(resolveOptions(rest, ['intake', ...OWN_NAMES]), warn) };

  if (
    typeof (intake as unknown) !== 'object' ||
    typeof (intake as Partial<Intake> | null)?.admit !== 'function'
  ) {
    throw invalid('ERR_WBP_INTAKE', 'intake', 'an intake made by createIntake()', intake);
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
  for (const name of ['skip', 'keyGenerator', 'delivery', 'handler'] as const) {
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
  if (standardHeaders !== false && standardHeaders !== 'draft-8') {
    throw invalid('ERR_WBP_HEADERS', 'standardHeaders', '"draft-8" or false', standardHeaders);
  }
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
