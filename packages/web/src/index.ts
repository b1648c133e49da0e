import { createAdmissionControl } from '@webhook-backpressure/core/middleware';
import type { Intake, MiddlewareOptions, Refusal } from '@webhook-backpressure/core';
import { waitUntilFinder, withoutWaitUntil, type WaitUntilOption } from './platform/wait-until.ts';
import { admitRequest, bodyCheck } from './request/admit-request.ts';
import { noteBackpressure, enclosingDelivery, handleInside } from './request/enclosing-delivery.ts';
import { checkHandler, headersOf, requestOf, type RequestSource } from './request/request-of.ts';
import { followResponse, withHeaders } from './response/follow-response.ts';

/** Options of {@link withBackpressure}. `onRefused` receives the refusal and the arguments of the wrapped handler. */
export type WithBackpressureOptions<A extends readonly unknown[] = readonly [Request]> = MiddlewareOptions<
  Request,
  A
> &
  WaitUntilOption<A>;

/**
 * Wraps a request handler: at most `concurrency` deliveries are handled concurrently, a limited number of others is queued,
 * and the rest is refused with `Retry-After`. A delivery holds its worker until the handler has returned and the response
 * body has ended.
 *
 * @throws BackpressureError with the code of the first invalid option, and `ERR_WBP_CALLBACK` when the handler is not a
 * function.
 *
 * @example
 * ```ts
 * export const POST = withBackpressure(async (request) => new Response(null, { status: 204 }))
 * ```
 */
export function withBackpressure<S extends RequestSource = Request, R extends unknown[] = []>(
  handler: (source: S, ...rest: R) => Response | Promise<Response>,
  options: WithBackpressureOptions<[source: S, ...rest: R]> = {},
): ((source: S, ...rest: R) => Promise<Response>) & { intake: Intake } {
  type A = [source: S, ...rest: R];
  checkHandler(handler);
  const control = createAdmissionControl<Request, A>(withoutWaitUntil(options), {
    method: (request) => request.method,
    identity: (request) => request,
    targets: (request) => [request.url],
    headers: headersOf,
    warn: (code, message) => {
      console.warn(`${code}: ${message}`);
    },
  });

  const findWaitUntil = waitUntilFinder(options);
  const checkBody = bodyCheck(control);

  const refuse = async (args: A, refusal: Refusal): Promise<Response> => {
    const fields = control.fields(refusal);
    const { status, headers, body } = refusal;
    if (options.onRefused === undefined)
      return new Response(body, { status, headers: { ...fields, ...headers } });
    return withHeaders((await options.onRefused(refusal, ...args)) as Response, fields);
  };

  const guarded = async (...args: A): Promise<Response> => {
    const request = requestOf(args[0]);
    if (enclosingDelivery(control.intake) !== undefined) return handler(...args);
    const skips = control.skips(request);
    const skipped = skips instanceof Promise ? await skips : skips;
    if (skipped === true) return handler(...args);
    if (skipped !== false) return new Response(null, skipped);
    checkBody(request);
    const signal = request.signal as AbortSignal | undefined;
    const admitted = admitRequest(control, request, signal, findWaitUntil(args));
    // Not by instanceof: a library may have replaced the global Promise, and async functions return the native one.
    const verdict = admitted === null || 'admitted' in admitted ? admitted : await admitted;
    // The sender has disconnected, but the platform requires a response.
    if (verdict === null) return new Response(null, { status: 503 });
    if (!verdict.admitted) return refuse(args, verdict);

    const fields = control.fields();
    try {
      noteBackpressure(request, verdict);
      const response = await handleInside(control.intake, verdict, () => handler(...args));
      verdict.endHandler();
      const followed = followResponse(withHeaders(response, fields), request.method, verdict);
      // A turn of microtasks less where the body is not followed.
      return followed instanceof Response ? followed : await followed;
    } catch (error) {
      verdict.endHandler('failure');
      verdict.endResponse('failure');
      throw error;
    }
  };
  // Deno.serve passes only as many arguments as the handler declares.
  Object.defineProperty(guarded, 'length', { value: Math.max(handler.length, 1) });
  return Object.assign(guarded, { intake: control.intake });
}

export { BackpressureError, createIntake } from '@webhook-backpressure/core';
export type * from '@webhook-backpressure/core';
export { known } from '@webhook-backpressure/senders';
export type * from '@webhook-backpressure/senders';
export { backpressureOf } from './request/enclosing-delivery.ts';
export { readiness } from './readiness.ts';
export type { RequestSource } from './request/request-of.ts';
export type { WaitUntilOption } from './platform/wait-until.ts';
export default withBackpressure;
