import { isRecord } from '@webhook-backpressure/base';
import { RequestFailure, type Answer } from '../requests/request.ts';
import { queueFill, rateHints, type RateHints } from './rate-hints.ts';
import { httpDate, parseRetryAfter } from './retry-after.ts';

/**
 * The meaning of an answer, or of its absence:
 *
 * - `delivered`: 2xx. `failedIds`: the events of a batch that failed, by a 207
 * - `limited`: the endpoint asks to wait. `waitMs`: undefined when it does not say how long
 * - `down`: the endpoint does not work: no answer, or 5xx without Retry-After
 * - `failed`: the delivery failed, and is retried: 3xx, 408, 409, 425
 * - `final`: the delivery failed, and a retry is useless: other 4xx
 * - `too-much`: 413 or 422: final for one event, and a reason to split a batch
 * - `gone`: 410: the endpoint does not exist any more
 */
export type Outcome =
  | { readonly kind: 'delivered'; readonly failedIds: readonly string[] }
  | { readonly kind: 'limited'; readonly waitMs: number | undefined }
  | { readonly kind: 'down' | 'failed' | 'final' | 'too-much' | 'gone' };

/** The conclusion from an attempt. */
export interface Judgment {
  readonly outcome: Outcome;
  readonly hints: RateHints | undefined;
  /** Whether a Retry-After was invalid, negative, in the past or too long, and was replaced. */
  readonly isClamped: boolean;
  /** For events, logs and the dead-letter queue; empty for `delivered`. No secrets, at most 4,096 characters. */
  readonly error: string;
}

/** The facts that {@link judge} uses. */
interface JudgeOptions {
  /** The present wall-clock time. */
  readonly nowMs: number;
  /** The longest wait that is honored. */
  readonly maxWaitMs: number;
  /** Whether the request contained a batch. */
  readonly isBatch: boolean;
}

/** The wait that Retry-After asks for. `ms`: undefined without a usable value. */
interface Wait {
  readonly ms: number | undefined;
  readonly isClamped: boolean;
}

/** 4xx that may succeed when they are repeated. Of all others, the same request would be refused again. */
const TEMPORARY = new Set([408, 409, 425]);

/** Decides the meaning of an answer, or of its absence. Never throws. */
export function judge(answer: Answer | RequestFailure, options: JudgeOptions): Judgment {
  if (answer instanceof RequestFailure) {
    const error = answer.message.slice(0, 4096);
    return { outcome: { kind: 'down' }, hints: undefined, isClamped: false, error };
  }
  const { status, header } = answer;
  const { maxWaitMs, isBatch } = options;
  // Dates are compared with the date of the same answer, so that the clocks of both sides need not agree.
  const nowMs = (): number => httpDate(header('date') ?? '', options.nowMs) ?? options.nowMs;
  const hints = rateHints(header, nowMs);
  const wait = waitOf(status, header('retry-after'), nowMs, maxWaitMs);
  const outcome = outcomeOf(answer, wait, isBatch);
  return {
    outcome,
    hints: hints && { ...hints, fill: queueFill(header), resetMs: Math.min(hints.resetMs, maxWaitMs) },
    isClamped: wait?.isClamped ?? false,
    error: outcome.kind === 'delivered' ? '' : errorOf(status),
  };
}

function waitOf(
  status: number,
  value: string | undefined,
  nowMs: () => number,
  maxWaitMs: number,
): Wait | undefined {
  if (value === undefined || status < 300) return undefined;
  if (status >= 400 && status < 500 && status !== 429 && !TEMPORARY.has(status)) return undefined;
  const ms = parseRetryAfter(value, nowMs());
  // A date in the past says as little as nonsense does; "0" says that it may be immediately.
  if (ms === null || (ms === 0 && value.includes(':'))) return { ms: undefined, isClamped: true };
  return { ms: Math.min(ms, maxWaitMs), isClamped: ms > maxWaitMs };
}

function outcomeOf({ status, body }: Answer, wait: Wait | undefined, isBatch: boolean): Outcome {
  if (status >= 200 && status < 300) return isBatch && status === 207 ? partly(body) : DELIVERED;
  if (status === 429 || wait) return { kind: 'limited', waitMs: wait?.ms };
  if (status === 410) return { kind: 'gone' };
  if (status === 413 || status === 422) return { kind: 'too-much' };
  if (status >= 400 && status < 500) return { kind: TEMPORARY.has(status) ? 'failed' : 'final' };
  return { kind: status >= 300 && status < 400 ? 'failed' : 'down' };
}

const DELIVERED: Outcome = { kind: 'delivered', failedIds: [] };

/** An answer that does not say which events failed can mean all of them, so all are sent again. */
function partly(body: Uint8Array): Outcome {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    const failed = isRecord(parsed) ? parsed['failed'] : undefined;
    if (Array.isArray(failed) && failed.every((id): id is string => typeof id === 'string'))
      return { kind: 'delivered', failedIds: failed };
  } catch {
    // Not JSON.
  }
  return { kind: 'failed' };
}

/** The body is left out: a receiver can echo headers that are secret. */
function errorOf(status: number): string {
  if (status >= 300 && status < 400) return `HTTP ${String(status)}: redirects are not followed.`;
  if (status === 207) return 'HTTP 207 without a list of the failed events: {"failed": ["id"]}.';
  return `HTTP ${String(status)}`;
}
