import { BackpressureError, show } from '../errors.ts';
import type { BackpressureErrorCode } from '../errors.ts';
import type { CloseReport } from '../intake/intake.ts';
import type { IntakeState } from '../delivery/snapshot.ts';

/** An intake or an inbox, as far as shutdown and readiness probes need it. */
export interface Closable {
  snapshot(): { readonly state: IntakeState };
  close(options?: { timeoutMs?: number | undefined }): Promise<CloseReport>;
}

/**
 * - `ready`: new deliveries are accepted; also while shedding or stalled, since moving traffic to other instances,
 *   which are as full, helps nobody
 * - `draining`: new deliveries are still accepted, but the load balancer should send no more
 * - `closing`: new deliveries are refused
 */
export type ReadinessStatus = 'ready' | 'draining' | 'closing';

/** The answer to a readiness probe. */
export interface ReadinessAnswer {
  /** 200 when ready, else 503. */
  readonly status: 200 | 503;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON: `{"status":"ready"}`, or another {@link ReadinessStatus}. */
  readonly body: string;
}

/** What a readiness probe asks. */
export interface Readiness {
  /** The status of the source that is furthest in its shutdown. */
  status(): ReadinessStatus;
  answer(): ReadinessAnswer;
}

/** Sources whose readiness a probe reports, and sources that drain. Nowhere else is either noted. */
const probed = new WeakSet<Closable>();
const draining = new WeakSet<Closable>();

const HEADERS: ReadinessAnswer['headers'] = Object.freeze({
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
});

/**
 * Reports whether a load balancer should send deliveries here: what the `readiness` of each adapter translates.
 *
 * @param sources - an intake, an inbox, or an array of them; ready when all are.
 * @throws BackpressureError `ERR_WBP_READINESS` when something else is among them, or nothing at all.
 */
export function createReadiness(sources: Closable | readonly Closable[]): Readiness {
  const all = closablesOf(sources, 'ERR_WBP_READINESS', 'readiness');
  for (const source of all) probed.add(source);
  const status = (): ReadinessStatus => {
    const each = all.map(statusOf);
    if (each.includes('closing')) return 'closing';
    return each.includes('draining') ? 'draining' : 'ready';
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
 * Makes readiness probes report `draining` for this source from now on, while it goes on accepting deliveries:
 * the first step of a shutdown, before `close`. `closeOnSignals` of the node package calls it.
 *
 * @param source - an intake or an inbox.
 */
export function beginDraining(source: Closable): void {
  draining.add(source);
}

/**
 * Whether a readiness probe reports on this source, so that a load balancer can notice that it drains.
 *
 * @param source - an intake or an inbox.
 */
export function isProbed(source: Closable): boolean {
  return probed.has(source);
}

/**
 * The argument of a function that takes one intake or inbox, or several.
 *
 * @param given - what the user gave.
 * @param code - the code of the error.
 * @param of - the function, for the message.
 * @throws BackpressureError `code` when something else is among them, or nothing at all.
 */
export function closablesOf(given: unknown, code: BackpressureErrorCode, of: string): readonly Closable[] {
  const all: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (all.length === 0) {
    throw new BackpressureError(
      code,
      `${of} takes at least one intake or inbox, but was given an empty array.`,
    );
  }
  const wrong = all.find((one) => !isClosable(one));
  if (all.every(isClosable)) return [...all];
  const inside = ['intake', 'inbox'].find((name) =>
    isClosable((wrong as Record<string, unknown> | null)?.[name]),
  );
  throw new BackpressureError(
    code,
    `${of} takes an intake or an inbox, or an array of them, but was given ${show(wrong)}.` +
      (inside === undefined ? '' : ` Give its .${inside}.`),
  );
}

function isClosable(value: unknown): value is Closable {
  const { snapshot, close } = (value ?? {}) as Partial<Record<keyof Closable, unknown>>;
  return typeof snapshot === 'function' && typeof close === 'function';
}

function statusOf(source: Closable): ReadinessStatus {
  const { state } = source.snapshot();
  if (state === 'closing' || state === 'closed') return 'closing';
  return draining.has(source) ? 'draining' : 'ready';
}
