import type { Inbox } from '@webhook-backpressure/inbox';

/**
 * State that must exist once in a process. A process may load this package several times: each entry is one bundle, in a
 * format for `import` and one for `require`.
 */
export function shared<T>(name: string, create: () => T): T {
  const all = globalThis as Record<symbol, { readonly value: T } | undefined>;
  return (all[Symbol.for(`webhook-backpressure.web.${name}`)] ??= { value: create() }).value;
}

/** Keeps the request of a platform alive until a promise settles, also after its response. */
export type WaitUntil = (promise: Promise<unknown>) => void;

/** Keeps a request alive on platforms that otherwise end it with its response. */
export interface KeepAlive {
  /** Awaits a promise that another request settles. */
  wait<T>(turn: Promise<T>): Promise<T>;
  /** Lets the platform end the request. */
  end(): void;
}

const PULSE_MS = 1000;

/** Whether the code runs on Cloudflare Workers. */
export function isOnWorkers(): boolean {
  return typeof navigator === 'object' && navigator.userAgent === 'Cloudflare-Workers';
}

/** Keeps the request alive until `end` is called. Undefined where a request needs no such care. */
export function keepAlive(waitUntil: WaitUntil | undefined): KeepAlive | undefined {
  const onWorkers = isOnWorkers();
  if (waitUntil === undefined && !onWorkers) return undefined;
  let end = (): void => undefined;
  // Otherwise nothing runs after the sender has disconnected, not even the release of the permit. Without `waitUntil` the
  // permit is revoked after maxHandlingMs.
  const lifetime = new Promise<void>((resolve) => {
    end = resolve;
  });
  try {
    waitUntil?.(lifetime);
  } catch {
    // For example when the platform has no request at the moment. The delivery is handled all the same.
  }
  return {
    end: () => {
      end();
    },
    async wait(turn) {
      if (!onWorkers) return turn;
      // A request that only awaits another request, without its own timer, counts as hung and is canceled.
      const pulse = setInterval(() => undefined, PULSE_MS);
      const result = await turn;
      clearInterval(pulse);
      return result;
    },
  };
}

/** No platform keeps a request longer after its response. */
const MAX_MS = 15 * 60_000;
/** How often a further request keeps the process alive. Each of them reads the state of the inbox once a second. */
const RENEWED_MS = 10_000;
const renewed = shared('kept-inboxes', () => new WeakSet<Inbox>());

/**
 * Keeps a request alive until the inbox has processed its deliveries, for as long as the platform permits: no code runs
 * there outside a request. On Workers this is each request, as its timers and connections end with it. Elsewhere one
 * request keeps the process running for the others: a server that is never idle would gather endless timers.
 */
export function keepAliveForInbox(waitUntil: WaitUntil | undefined, inbox: Inbox): void {
  // A receiver without workers processes nothing that a request could be kept alive for.
  if (renewed.has(inbox) || inbox.snapshot().role === 'receiver') return;
  const alive = keepAlive(waitUntil);
  if (alive === undefined) return;
  if (!isOnWorkers()) renewed.add(inbox);
  let aliveMs = 0;
  const pulse = setInterval(() => {
    aliveMs += PULSE_MS;
    const { depth, state } = inbox.snapshot();
    // Deliveries left when it closes are processed after the next start.
    const isOver = depth === 0 || state === 'closed' || aliveMs >= MAX_MS;
    if (isOver || aliveMs === RENEWED_MS) renewed.delete(inbox);
    if (!isOver) return;
    clearInterval(pulse);
    alive.end();
  }, PULSE_MS);
}
