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
