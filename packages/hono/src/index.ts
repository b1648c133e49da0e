import {
  createDoor,
  infoOf,
  type BackpressureInfo,
  type Intake,
  type MiddlewareOptions,
  type Permit,
  type Refusal,
} from '@webhook-backpressure/core';
import type { Context, MiddlewareHandler, Next } from 'hono';
import { nodeHeaders, nodeLife, nodeRequest } from './node-life.ts';
import { addHeaders, webLife, webRequest } from './web-life.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** What `webhookBackpressure` found out about this delivery; undefined for a request that it skipped. */
    backpressure: BackpressureInfo | undefined;
  }
}

/** The options of {@link webhookBackpressure}. A `handler` is given the refusal, the context and next. */
export type WebhookBackpressureOptions = MiddlewareOptions<Context, [c: Context, next: Next]>;

/**
 * Lets at most `concurrency` deliveries run at once, keeps a bounded number waiting, and refuses the rest with
 * Retry-After. A permit is held until the body of the response has ended, streamed or not.
 *
 * @throws BackpressureError with the code of the first option that is wrong.
 *
 * @example
 * ```ts
 * app.use('/webhooks', webhookBackpressure())
 * ```
 */
export function webhookBackpressure(
  options: WebhookBackpressureOptions = {},
): MiddlewareHandler & { intake: Intake } {
  const door = createDoor<Context, [Context, Next]>(options, {
    method: (c) => c.req.method,
    identity: (c) => nodeRequest(c.env) ?? webRequest(c),
    headers: (c) => nodeHeaders(c.env) ?? c.req.header(),
    warn: (code, message) => {
      console.warn(`${code}: ${message}`);
    },
  });
  const { handler } = options;

  const refuse = async (c: Context, next: Next, refusal: Refusal): Promise<Response | undefined> => {
    const fields = door.fields(refusal);
    if (handler === undefined) return c.body(refusal.body, refusal.status, { ...fields, ...refusal.headers });
    const answer = (await handler(refusal, c, next)) as Response | undefined;
    if (answer !== undefined) c.res = answer;
    addHeaders(c, fields);
    return undefined;
  };

  const middleware: MiddlewareHandler = async (c, next) => {
    const skips = door.skips(c);
    if (typeof skips === 'boolean' ? skips : await skips) {
      await next();
      return undefined;
    }
    const life = nodeLife(c.env) ?? webLife(c);
    if (life.isOver()) return c.body(null, 503);
    const delivery = door.read(c);
    const place = door.admit(delivery);
    if (!place.admitted) return refuse(c, next, place);

    life.follow(place);
    const { permit: turn } = place;
    const permit: Permit | Refusal = turn instanceof Promise ? await life.wait(turn) : turn;
    if (!permit.admitted) return refuse(c, next, permit);
    if (!life.begin(permit)) return c.body(null, 503);

    c.set('backpressure', infoOf(delivery, permit.waitedMs));
    const fields = door.fields();
    try {
      await next();
      addHeaders(c, fields);
    } catch (error) {
      life.fail();
      throw error;
    }
    life.hold();
    return undefined;
  };
  return Object.assign(middleware, { intake: door.intake });
}

export { readiness } from './readiness.ts';
export { webhookInbox } from './inbox.ts';
export default webhookBackpressure;
export type { BackpressureInfo };
