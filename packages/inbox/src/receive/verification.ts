import { errorMessageOf, invalid, readThrown, show } from '@webhook-backpressure/base';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import { classAndPlaceOf } from '../events/process-warnings.ts';
import { VerificationError } from '../verifiers/signatures.ts';

/** Why a delivery is not verified. */
export interface VerificationFailure {
  /** Reported, so that a bug in `verify` can be distinguished from a forged request. */
  readonly error: string;
  /** `verify` could not decide: the sender is to retry. */
  readonly isUndecided: boolean;
  /** Probably a bug in `verify`, which would refuse every delivery. */
  readonly isBug: boolean;
  /** The reason for a process warning, which contains neither a secret nor what the sender sent. */
  readonly why: () => string;
  /** The text of this package that says so, if one does. */
  readonly reason?: string | undefined;
}

/** Fields in which the results of common libraries say whether a delivery is genuine. */
const VERDICTS = ['valid', 'isValid', 'ok', 'success', 'verified', 'isVerified'] as const;

const NOTHING =
  'It returned nothing: a `return` is missing. If it throws for a forged delivery instead, use throwing(verify).';

/** Why `verify` rejects a delivery; undefined only if its result clearly accepts. */
export async function verificationFailureOf(
  verify: Exclude<InboxOptions['verify'], false>,
  delivery: RawDelivery,
): Promise<VerificationFailure | undefined> {
  try {
    const verdict = await verify(delivery);
    return objectionTo(verdict);
  } catch (error) {
    const isUndecided = readThrown(() => isUnavailable(error), false);
    const isBug = readThrown(() => isOfBug(error), false);
    // The messages of VerificationError are all in this package; any other may contain anything.
    const isOwn = readThrown(() => error instanceof VerificationError, false);
    const message = errorMessageOf(error);
    const why = (): string => (isOwn ? message : `It threw ${classAndPlaceOf(error)}.`);
    return { error: message, isUndecided, isBug, why, reason: isOwn ? message : undefined };
  }
}

/**
 * Wraps a verifier that throws or rejects for a forged delivery. Any other result than `false` accepts the delivery:
 * nothing, or a parsed body, which may be `null` or contain an unrelated `{ "success": false }`.
 *
 * @param verify - the verifier.
 * @returns a function for the option `verify`.
 * @throws BackpressureError `ERR_WBP_VERIFY` when `verify` is not a function.
 *
 * @example
 * ```ts
 * const webhook = new Webhook(secret)
 * webhookInbox({ store, process, verify: throwing(({ text, headers }) => webhook.verify(text(), headers)) })
 * ```
 */
export function throwing(
  verify: (delivery: RawDelivery) => unknown,
): (delivery: RawDelivery) => Promise<boolean> {
  if (typeof (verify as unknown) !== 'function')
    throw invalid('ERR_WBP_VERIFY', 'The argument of throwing()', 'a function', verify);
  return async (delivery) => (await verify(delivery)) !== false;
}

function objectionTo(verdict: unknown): VerificationFailure | undefined {
  const no = (error: string, advice?: string): VerificationFailure => ({
    error,
    isUndecided: false,
    isBug: advice !== undefined,
    why: () => advice ?? `${error}.`,
  });
  if (verdict === undefined) return no('verify returned undefined', NOTHING);
  if (!verdict) return no(`verify returned ${show(verdict)}`);
  switch (typeof verdict) {
    case 'function':
    case 'symbol':
      return no(
        `verify returned a ${typeof verdict}`,
        `It returned a ${typeof verdict} instead of a result.`,
      );
    case 'object':
      return verdict instanceof Error
        ? no(
            `verify returned an error: ${errorMessageOf(verdict)}`,
            'It returned an error instead of throwing it.',
          )
        : objectionToObject(verdict, no);
    default:
      return undefined;
  }
}

/** Whether an object rejects: an empty list of matches, or a field that is falsy. */
function objectionToObject(
  verdict: object,
  no: (error: string) => VerificationFailure,
): VerificationFailure | undefined {
  if (Array.isArray(verdict))
    return verdict.length === 0 || !verdict.every(Boolean)
      ? no('verify returned an array that is empty or has a falsy element')
      : undefined;
  if (verdict instanceof Boolean) return verdict.valueOf() ? undefined : no('verify returned false');
  if ('error' in verdict && Boolean(verdict.error)) return no('verify returned an object with an error');
  const name = VERDICTS.find((one) => one in verdict && !(verdict as Record<string, unknown>)[one]);
  if (name === undefined) return undefined;
  return no(
    `verify returned an object whose field ${name} is falsy; if that is the parsed body, use throwing(verify)`,
  );
}

/** By the `status` of http-errors, Koa and Hono, which most HTTP clients set on their errors too. */
function isUnavailable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'status' in error && error.status === 503;
}

/** Errors that a bug throws. A verifier's own errors differ, and so does the SyntaxError of JSON for a forged body. */
function isOfBug(error: unknown): boolean {
  return error instanceof TypeError || error instanceof ReferenceError;
}
