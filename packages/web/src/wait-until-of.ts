import type { WaitUntil } from './keep-alive.ts';

interface WithWaitUntil {
  readonly waitUntil?: WaitUntil;
}

/** Where Vercel keeps the request that its function handles. */
const VERCEL = Symbol.for('@vercel/request-context');

/**
 * Finds the `waitUntil` of the platform in the arguments of a handler: the execution context of Workers and Netlify, the
 * event of H3, `event.platform` of SvelteKit on Cloudflare, or the request context of Vercel.
 */
export function waitUntilOf(args: readonly unknown[]): WaitUntil | undefined {
  for (const argument of args) {
    if (typeof argument !== 'object' || argument === null) continue;
    const { platform } = argument as { platform?: { ctx?: WithWaitUntil; context?: WithWaitUntil } };
    for (const owner of [argument as WithWaitUntil, platform?.ctx, platform?.context]) {
      if (typeof owner?.waitUntil === 'function') return owner.waitUntil.bind(owner);
    }
  }
  const vercel = (globalThis as { [VERCEL]?: { get?(): WithWaitUntil | undefined } })[VERCEL]?.get?.();
  return vercel?.waitUntil;
}
