import { invalid, show } from '../../errors.ts';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxOptions } from '../settings/inbox-options.ts';
import { messageOf } from '../keeping/store-health.ts';
import type { Flaw } from '../report/unheard.ts';

/** Why a delivery is not let in. */
export interface Doubt {
  /** A `verify` that is broken must not look like a forger. */
  readonly error: string;
  /** It could not be told whether the delivery is genuine: its sender is to try again. */
  readonly isUndecided: boolean;
  /** A mistake of this kind would refuse everybody. */
  readonly flaw?: Flaw | undefined;
}

/** In which an object says whether a delivery is genuine, by the habit of libraries. */
const VERDICTS = ['valid', 'isValid', 'ok', 'success', 'verified', 'isVerified'] as const;

const NOTHING =
  'It returned nothing: a `return` is missing, or, where it throws for what is not genuine, say so by throwing(verify).';

/** What `verify` has against a delivery, if anything. Whatever is no clear yes is a no. */
export async function doubtOf(
  verify: Exclude<InboxOptions['verify'], false>,
  delivery: RawDelivery,
): Promise<Doubt | undefined> {
  try {
    const verdict = await verify(delivery);
    return objectionTo(verdict);
  } catch (error) {
    const isUndecided = isUnavailable(error);
    const flaw = !isUndecided && isMistake(error) ? { thrown: error } : undefined;
    return { error: messageOf(error), isUndecided, flaw };
  }
}

/**
 * Declares that a verifier throws, or rejects, for what is not genuine, so that whatever it returns is a yes: nothing, or
 * the parsed body, which may be `null` or say `{ "success": false }` of something else. Only `false` stays a no.
 *
 * @param verify - the verifier.
 * @returns the function for the option `verify`.
 * @throws BackpressureError `ERR_WBP_VERIFY` when it is no function.
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

function objectionTo(verdict: unknown): Doubt | undefined {
  const no = (error: string, advice?: string): Doubt => ({
    error,
    isUndecided: false,
    flaw: advice === undefined ? undefined : { advice },
  });
  if (verdict === undefined) return no('verify returned undefined', NOTHING);
  if (!verdict) return no(`verify returned ${show(verdict)}`);
  switch (typeof verdict) {
    case 'function':
    case 'symbol':
      return no(
        `verify returned a ${typeof verdict}`,
        `It returned a ${typeof verdict}, and not what that says.`,
      );
    case 'object':
      return verdict instanceof Error
        ? no(
            `verify returned an error: ${messageOf(verdict)}`,
            'It returned an error in place of throwing it.',
          )
        : noOf(verdict, no);
    default:
      return undefined;
  }
}

/** Of an object: an empty list of what matched, or a field that says no. */
function noOf(verdict: object, no: (error: string) => Doubt): Doubt | undefined {
  if (Array.isArray(verdict))
    return verdict.length === 0 || !verdict.every(Boolean)
      ? no('verify returned an array without a yes')
      : undefined;
  if (verdict instanceof Boolean) return verdict.valueOf() ? undefined : no('verify returned false');
  if ('error' in verdict && Boolean(verdict.error)) return no('verify returned an object with an error');
  const name = VERDICTS.find((one) => one in verdict && !(verdict as Record<string, unknown>)[one]);
  if (name === undefined) return undefined;
  return no(
    `verify returned an object whose field ${name} says no; if that is the parsed body, use throwing(verify)`,
  );
}

/** By the convention of http-errors, Koa and Hono, which most clients of HTTP follow with what they were answered. */
function isUnavailable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'status' in error && error.status === 503;
}

/** What code throws that is wrong. A verifier's own errors are others, and so is what a forged body makes JSON throw. */
function isMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof ReferenceError;
}
