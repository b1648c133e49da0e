declare module 'express-queue' {
  import type { RequestHandler } from 'express';
  /** @param options - `queuedLimit` of -1: no limit. */
  export default function queue(options: { activeLimit: number; queuedLimit: number }): RequestHandler;
}

declare module 'overload-protection' {
  import type { RequestHandler } from 'express';
  export default function protect(
    framework: 'express',
    options: { production: boolean; clientRetrySecs: number; maxEventLoopDelay: number },
  ): RequestHandler;
}
