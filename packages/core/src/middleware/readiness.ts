import {
  BackpressureError,
  type BackpressureErrorCode,
  glanceAt,
  shared,
  show,
} from '@webhook-backpressure/base';
import type { CloseReport } from '../intake/intake.ts';
import type { IntakeState } from '../delivery/snapshot.ts';

/** An intake or an inbox, as shutdown and readiness probes see it. */
export interface Closable {
  /** Returns at least the current state. */
  snapshot(): { readonly state: IntakeState };
  /** Refuses new deliveries and resolves when the waiting ones are done, or after `timeoutMs`. */
  close(options?: { timeoutMs?: number | undefined }): Promise<CloseReport>;
}

/**
 * - `ready`: new deliveries are accepted. Also while shedding or stalled: other instances are as full, so routing to
 *   them does not help
 * - `draining`: new deliveries are still accepted, but the load balancer should stop sending them
 * - `starting`: the store of an inbox is not open yet. New deliveries wait for it, and are refused once an attempt to open
 *   it has failed. No state of a source that has been ready once
 * - `closing`: new deliveries are refused
 */
export type ReadinessStatus = 'ready' | 'starting' | 'draining' | 'closing';

/** The answer to a readiness probe. */
export interface ReadinessAnswer {
  /** 200 when ready, otherwise 503. */
  readonly status: 200 | 503;
  /** The content type, and `Cache-Control: no-store`. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON: `{"status":"ready"}`, or `starting`, `draining` or `closing`. */
  readonly body: string;
}

/** The readiness of one or more intakes and inboxes. */
export interface Readiness {
  /** The status of the source whose shutdown has advanced furthest. */
  status(): ReadinessStatus;
  /** The HTTP response to a probe. */
  answer(): ReadinessAnswer;
}

/** Sources that a readiness probe reports, sources that are draining, and inboxes whose store is not open yet. */
const probed = shared('probed', () => new WeakSet<Closable>());
const draining = shared('draining', () => new WeakSet<Closable>());
const starting = shared('starting', () => new WeakSet<Closable>());

const HEADERS: ReadinessAnswer['headers'] = Object.freeze({
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
});

/**
 * Reports whether a load balancer should send deliveries here. The `readiness` function of each adapter is based on it.
 *
 * @param sources - an intake, an inbox, or an array of them. The result is `ready` when all of them are.
 * @throws BackpressureError `ERR_WBP_READINESS` for anything else, and for an empty array.
 */
export function createReadiness(sources: Closable | readonly Closable[]): Readiness {
  const all = closablesOf(sources, 'ERR_WBP_READINESS', 'readiness');
  for (const source of all) probed.add(source);
  const status = (): ReadinessStatus => {
    const each = all.map(statusOf);
    if (each.includes('closing')) return 'closing';
    if (each.includes('draining')) return 'draining';
    return each.includes('starting') ? 'starting' : 'ready';
  };
  return {
    status,
    answer() {
      const current = status();
      return {
        status: current === 'ready' ? 200 : 503,
        headers: HEADERS,
        body: JSON.stringify({ status: current }),
      };
    },
  };
}

/**
 * Makes readiness probes report `draining` for this source, which continues to accept deliveries. The first step of a
 * shutdown, before `close`. `closeOnSignals` calls it.
 *
 * @param source - an intake or an inbox.
 */
export function beginDraining(source: Closable): void {
  draining.add(source);
}

/** Makes readiness probes report `starting` for an inbox, or no longer. */
export function markStarting(source: Closable, isStarting: boolean): void {
  if (isStarting) starting.add(source);
  else starting.delete(source);
}

/**
 * Whether a readiness probe reports this source, so that a load balancer can notice that it is draining.
 *
 * @param source - an intake or an inbox.
 */
export function isProbed(source: Closable): boolean {
  return probed.has(source);
}

/**
 * Checks the argument of a function that takes an intake, an inbox, or an array of them.
 *
 * @param given - the argument as the user passed it.
 * @param code - the code of the error.
 * @param of - the name of the function, for the message.
 * @returns the sources as an array.
 * @throws BackpressureError `code` for anything else, and for an empty array.
 */
export function closablesOf(given: unknown, code: BackpressureErrorCode, of: string): readonly Closable[] {
  const all: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (all.length === 0) {
    throw new BackpressureError(
      code,
      `${of}() requires at least one intake or inbox, but was given an empty array.`,
    );
  }
  const wrong = all.find((one) => !isClosable(one));
  if (all.every(isClosable)) return [...all];
  const inside = ['intake', 'inbox'].find((name) =>
    isClosable((wrong as Record<string, unknown> | null)?.[name]),
  );
  throw new BackpressureError(
    code,
    `${of}() requires an intake, an inbox, or an array of them, but was given ${show(wrong)}.` +
      (inside === undefined ? '' : ` Pass its .${inside} instead.`),
  );
}

function isClosable(value: unknown): value is Closable {
  const { snapshot, close } = (value ?? {}) as Partial<Record<keyof Closable, unknown>>;
  return typeof snapshot === 'function' && typeof close === 'function';
}

function statusOf(source: Closable): ReadinessStatus {
  const { state } = glanceAt(source);
  if (state === 'closing' || state === 'closed') return 'closing';
  if (draining.has(source)) return 'draining';
  return starting.has(source) ? 'starting' : 'ready';
}
