// The part of express-queue that docs/migration.md uses. The package has no types.
declare module 'express-queue' {
  import type { RequestHandler } from 'express';
  /** @param options - `queuedLimit` of -1: no limit. */
  export default function expressQueue(options: {
    activeLimit: number;
    queuedLimit: number;
  }): RequestHandler & { readonly queue: { getLength(): number } };
}

// The function of Next.js that packages/web/README.md passes.
declare module 'next/server' {
  export function after(task: Promise<unknown> | (() => unknown)): void;
}

// A file that the page on Next.js shows beside its routes.
declare module '*/lib/webhooks' {
  export const webhooks: {
    readonly receive: (request: Request) => Promise<Response>;
    readonly metrics: import('prom-client').Registry;
    readonly page: import('@webhook-backpressure/dashboard').Dashboard;
  };
}

declare module '*/lib/stripe-inbox' {
  export const stripeInbox: (request: Request) => Promise<Response>;
}
declare module '*/lib/worker' {}
