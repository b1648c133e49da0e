import { createAdmissionControl, readableErrors } from '@webhook-backpressure/core/middleware';
import type { BackpressureInfo, Intake, MiddlewareOptions, Refusal } from '@webhook-backpressure/core';
import { RequestAdmission } from '@webhook-backpressure/node/request';
import { admitRequest, enclosingDelivery, handleInside } from '@webhook-backpressure/web/parts';
import type { Context, MiddlewareHandler, Next } from 'hono';
import { boundNodeBody, nodeBindings, UndecidedRequests } from './node-server.ts';
import { addHeaders, holdForBody, isForWholeApp, waitUntilOf, webRequest } from './web-context.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** The delivery's key, sender, id and wait. Undefined for a request that `webhookBackpressure` skipped. */
    backpressure: BackpressureInfo | undefined;
  }
}

/** Options of {@link webhookBackpressure}. `onRefused` receives the refusal, the context and `next`. */
export type WebhookBackpressureOptions = MiddlewareOptions<Context, [c: Context, next: Next]>;

/**
 * Handles at most `concurrency` deliveries concurrently, queues a limited number of others, and refuses the rest with
 * `Retry-After`. A delivery holds its worker until the handlers have returned and the response body has ended.
 *
 * @throws BackpressureError with the code of the first invalid option.
 *
 * @example
 * ```ts
 * app.use('/webhooks', webhookBackpressure())
 * ```
 */
export function webhookBackpressure(
  options: WebhookBackpressureOptions = {},
): MiddlewareHandler & { intake: Intake } {
  const control = createAdmissionControl<Context, [Context, Next]>(options, {
    method: (c) => c.req.method,
    identity: (c) => nodeBindings(c.env)?.incoming ?? webRequest(c),
    targets: (c) => [c.req.url],
    // Node's headers: reading those of the web-standard request would create it.
    headers: (c) => nodeBindings(c.env)?.incoming.headers ?? c.req.header(),
    isForWholeApp: (c) => isForWholeApp(c, middleware),
    warn: (code, message) => {
      console.warn(`${code}: ${message}`);
    },
  });
  const undecided = new UndecidedRequests();
  const admission = new RequestAdmission(control, undecided);
  const handler = readableErrors(options.onRefused);

  const refuse = async (c: Context, next: Next, refusal: Refusal): Promise<Response | undefined> => {
    boundNodeBody(c.env);
    const fields = control.fields(refusal);
    if (handler === undefined) return c.body(refusal.body, refusal.status, { ...fields, ...refusal.headers });
    const answer = (await handler(refusal, c, next)) as Response | undefined;
    if (answer !== undefined) c.res = answer;
    addHeaders(c, fields);
    return undefined;
  };

  const middleware: MiddlewareHandler = async (c, next) => {
    const node = nodeBindings(c.env);
    const skips = (node === undefined && enclosingDelivery(control.intake) !== undefined) || control.skips(c);
    const skipped = skips instanceof Promise ? await skips : skips;
    if (skipped === true) {
      await next();
      return undefined;
    }
    if (skipped !== false) return c.body(skipped.body, skipped.status as 200 | 403, { ...skipped.headers });
    const admitted =
      node === undefined
        ? admitRequest<Context>(control, c, c.req.raw.signal, waitUntilOf(c))
        : admission.admit(c, node.incoming, node.outgoing);
    // Not by instanceof: a library may have replaced the global Promise, and async functions return the native one.
    const verdict = admitted === null || 'admitted' in admitted ? admitted : await admitted;
    if (verdict === null) return undecided.answer(c);
    if (!verdict.admitted) return refuse(c, next, verdict);

    c.set('backpressure', verdict);
    const fields = control.fields();
    const handled = node === undefined ? handleInside(control.intake, verdict, next) : next();
    verdict.follow(handled);
    try {
      await handled;
      addHeaders(c, fields);
      // On node-server the end of node's response ends it.
      if (node === undefined) await holdForBody(c, verdict);
    } catch (error) {
      if (node === undefined) verdict.endResponse('failure');
      throw error;
    }
    return undefined;
  };
  return Object.assign(middleware, { intake: control.intake });
}

export { BackpressureError, createIntake } from '@webhook-backpressure/core';
export type * from '@webhook-backpressure/core';
export { known } from '@webhook-backpressure/senders';
export type * from '@webhook-backpressure/senders';
export { readiness } from './readiness.ts';
export default webhookBackpressure;
