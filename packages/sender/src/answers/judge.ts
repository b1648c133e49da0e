import { isRecord } from '@webhook-backpressure/base';
import { RequestFailure, type Answer } from '../requests/request.ts';
import { httpDate } from './http-date.ts';
import type { Judgment, Outcome } from './outcome.ts';
import { queueFill } from './queue-fill.ts';
import { rateHints } from './rate-hints.ts';
import { parseRetryAfter } from './retry-after.ts';

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

/** Decides the meaning of an answer, or of its absence. Never throws. */
export function judge(answer: Answer | RequestFailure, options: JudgeOptions): Judgment {
  if (answer instanceof RequestFailure) {
    return {
      outcome: { kind: 'down' },
      hints: undefined,
      isClamped: false,
      error: answer.message.slice(0, 4096),
    };
  }
  // Dates are compared with the date of the same answer, so that the clocks of both sides need not agree.
  const nowMs = httpDate(answer.header('date') ?? '', options.nowMs) ?? options.nowMs;
  const wait = canAskToWait(answer.status)
    ? waitOf(answer.header('retry-after'), nowMs, options.maxWaitMs)
    : undefined;
  const outcome = outcomeOf(answer, wait, options.isBatch);
  const limits = rateHints(answer.header, nowMs);
  const hints = limits && { ...limits, fill: queueFill(answer.header) };
  return {
    outcome,
    hints: hints && { ...hints, resetMs: Math.min(hints.resetMs, options.maxWaitMs) },
    isClamped: wait?.isClamped ?? false,
    error: errorOf(answer.status, outcome),
  };
}

/** Of 4xx, all others are final: the same request would be refused again. */
function canAskToWait(status: number): boolean {
  return (status >= 300 && status < 400) || status >= 500 || [408, 409, 425, 429].includes(status);
}

function waitOf(value: string | undefined, nowMs: number, maxWaitMs: number): Wait | undefined {
  if (value === undefined) return undefined;
  const ms = parseRetryAfter(value, nowMs);
  // A date in the past says as little as nonsense does; "0" says that it may be immediately.
  if (ms === null || (ms === 0 && !/^\s*0+\s*$/.test(value))) return { ms: undefined, isClamped: true };
  return { ms: Math.min(ms, maxWaitMs), isClamped: ms > maxWaitMs };
}

function outcomeOf(answer: Answer, wait: Wait | undefined, isBatch: boolean): Outcome {
  const { status } = answer;
  if (status >= 200 && status < 300) return isBatch && status === 207 ? partly(answer.body) : DELIVERED;
  if (status === 429 || wait) return { kind: 'limited', waitMs: wait?.ms };
  if (status === 410) return { kind: 'gone' };
  if (status === 413 || status === 422) return { kind: 'too-much' };
  if (status >= 400 && status < 500) return { kind: [408, 409, 425].includes(status) ? 'failed' : 'final' };
  return { kind: status >= 300 && status < 400 ? 'failed' : 'down' };
}

const DELIVERED: Outcome = { kind: 'delivered', failedIds: [] };

/** An answer that does not say which events failed can mean all of them, so all are sent again. */
function partly(body: Uint8Array): Outcome {
  const failed = failedOf(body);
  return Array.isArray(failed) && failed.every((id): id is string => typeof id === 'string')
    ? { kind: 'delivered', failedIds: failed }
    : { kind: 'failed' };
}

function failedOf(body: Uint8Array): unknown {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    return isRecord(parsed) ? parsed['failed'] : undefined;
  } catch {
    return undefined;
  }
}

/** The body is left out: a receiver can echo headers that are secret. */
function errorOf(status: number, { kind }: Outcome): string {
  if (kind === 'delivered') return '';
  if (status >= 300 && status < 400) return `HTTP ${String(status)}: redirects are not followed.`;
  if (status === 207) return 'HTTP 207 without a list of the failed events: {"failed": ["id"]}.';
  return `HTTP ${String(status)}`;
}
