import type { WaitUntil } from './keep-alive.ts';

interface WithWaitUntil {
  readonly waitUntil?: WaitUntil;
}

type Bag = Readonly<Record<string, unknown>>;

/** Properties of a handler's argument that hold the context of a platform. */
const PATHS: readonly (readonly string[])[] = [
  // The argument itself: Workers, Netlify, an event of H3, a request of srvx.
  [],
  // SvelteKit on Cloudflare; `context` up to version 6 of its adapter, and on Netlify.
  ['platform', 'ctx'],
  ['platform', 'context'],
  // Astro on Cloudflare, from Astro 6; before that, `runtime.ctx`, whose getter throws from Astro 6. Then on Netlify.
  ['locals', 'cfContext'],
  ['locals', 'runtime', 'ctx'],
  ['locals', 'netlify', 'context'],
  // An event of H3 2 on a server of srvx.
  ['req'],
];

/** Where Vercel and Next.js keep the request that is being handled. */
const GLOBALS = [Symbol.for('@vercel/request-context'), Symbol.for('@next/request-context')];

/** The `waitUntil` of the platform, if it has one. */
export function waitUntilOf(args: readonly unknown[]): WaitUntil | undefined {
  for (const argument of args) {
    if (typeof argument !== 'object' || argument === null) continue;
    for (const path of PATHS) {
      const found = bound(() =>
        path.reduce<unknown>((owner, name) => (owner as Bag | undefined)?.[name], argument),
      );
      if (found !== undefined) return found;
    }
  }
  for (const name of GLOBALS) {
    const found = bound(() => (globalThis as Record<symbol, { get?(): unknown } | undefined>)[name]?.get?.());
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A getter that throws, as those of removed properties do, must not fail a delivery. */
function bound(read: () => unknown): WaitUntil | undefined {
  try {
    const owner = read() as WithWaitUntil | null | undefined;
    return typeof owner?.waitUntil === 'function' ? owner.waitUntil.bind(owner) : undefined;
  } catch {
    return undefined;
  }
}
