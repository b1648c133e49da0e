import { BackpressureError, thrownText } from '@webhook-backpressure/base';
import type { WaitUntil } from './keep-alive.ts';

/** An option of both functions of this package. */
export interface WaitUntilOption<A extends readonly unknown[] = readonly unknown[]> {
  /**
   * Keeps the platform's request alive until the promise settles, also after its response, such as `after` of
   * `next/server`. Called synchronously with the request, with the promise and the arguments of the handler. Default: the
   * `waitUntil` of Vercel, Netlify, Cloudflare Workers, H3 or srvx, which is found in the arguments or in the platform's
   * global context. Without one, a serverless platform may suspend the process after the response.
   */
  waitUntil?: ((promise: Promise<unknown>, ...args: A) => unknown) | undefined;
}

/** Finds what keeps the request of a platform alive, from the arguments of its handler. */
type FindWaitUntil<A extends readonly unknown[]> = (args: A) => WaitUntil | undefined;

/** @throws BackpressureError `ERR_WBP_CALLBACK` when the option is not a function. */
export function waitUntilFinder<A extends readonly unknown[]>(options: WaitUntilOption<A>): FindWaitUntil<A> {
  // Other invalid options are the core's to report.
  const option = (options as WaitUntilOption<A> | null | undefined)?.waitUntil;
  if (option === undefined) return waitUntilOf;
  if (typeof (option as unknown) !== 'function')
    throw new BackpressureError(
      'ERR_WBP_CALLBACK',
      `waitUntil must be a function, but was ${String(option)}.`,
    );
  let hasWarned = false;
  const warn = (error: unknown): void => {
    if (hasWarned) return;
    hasWarned = true;
    console.warn(
      `WBP_WORK_FAILED: The option waitUntil has failed, so the platform may end requests early: ${thrownText(error)}`,
    );
  };
  return (args) => (promise) => {
    try {
      // Not awaited: it may await the promise. A rejection without a listener ends the process on Node.js.
      Promise.resolve(option(promise, ...args)).catch(warn);
    } catch (error) {
      warn(error);
    }
  };
}

/** The options of the core. */
export function withoutWaitUntil<O extends object>(options: O): Omit<O, 'waitUntil'> {
  if (typeof options !== 'object' || (options as unknown) === null || !Object.hasOwn(options, 'waitUntil'))
    return options;
  const rest = { ...options } as O & WaitUntilOption;
  delete rest.waitUntil;
  return rest;
}

interface WithWaitUntil {
  readonly waitUntil?: WaitUntil;
}

/** An argument of a handler, as far as it may hold the context of a platform. */
interface Argument extends WithWaitUntil {
  readonly platform?: { readonly ctx?: unknown; readonly context?: unknown };
  readonly locals?: {
    readonly cfContext?: unknown;
    readonly runtime?: { readonly ctx?: unknown };
    readonly netlify?: { readonly context?: unknown };
  };
  readonly req?: unknown;
}

/** Where an argument of a handler holds the context of a platform. */
const PLACES: readonly ((argument: Argument) => unknown)[] = [
  // Workers, Netlify, an event of H3, a request of srvx.
  (argument) => argument,
  // SvelteKit on Cloudflare; `context` up to version 6 of its adapter, and on Netlify.
  ({ platform }) => platform?.ctx,
  ({ platform }) => platform?.context,
  // Astro on Cloudflare, from Astro 6; before that, `runtime.ctx`, whose getter throws from Astro 6. Then on Netlify.
  ({ locals }) => locals?.cfContext,
  ({ locals }) => locals?.runtime?.ctx,
  ({ locals }) => locals?.netlify?.context,
  // An event of H3 2 on a server of srvx.
  ({ req }) => req,
];

interface Context {
  get?(): unknown;
}
const contexts = globalThis as Record<symbol, Context | undefined>;

/** Where Vercel and Next.js keep the request that is being handled. */
const GLOBALS = ['@vercel/request-context', '@next/request-context'].map((name) => {
  const key = Symbol.for(name);
  return () => contexts[key]?.get?.();
});

/** The `waitUntil` of the platform, if it has one. */
function waitUntilOf(args: readonly unknown[]): WaitUntil | undefined {
  for (const argument of args) {
    if (typeof argument !== 'object' || argument === null) continue;
    for (const place of PLACES) {
      const found = bound(place, argument);
      if (found !== undefined) return found;
    }
  }
  for (const place of GLOBALS) {
    const found = bound(place, undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A getter that throws, as those of removed properties do, must not fail a delivery. */
function bound<A>(place: (argument: A) => unknown, argument: A): WaitUntil | undefined {
  try {
    const owner = place(argument);
    const { waitUntil } = (owner ?? {}) as WithWaitUntil;
    return typeof waitUntil === 'function' ? waitUntil.bind(owner) : undefined;
  } catch {
    return undefined;
  }
}
