import type { SenderProfile } from './sender-profile.ts';

/** Whether to receive a sender's webhooks with the middleware or with the inbox, and the fact that decides it. */
export interface SenderAdvice {
  /** Which of them. */
  readonly use: 'inbox' | 'middleware';
  /** Follows the name of the sender in a sentence. */
  readonly because:
    | 'uses your response'
    | 'never retries'
    | 'disables the endpoint soon after failures'
    | 'waits 3 s or less'
    | 'gives up within an hour'
    | 'honors Retry-After'
    | 'retries for hours';
}

/** The inbox acknowledges before the handler runs, so these get nothing from it. No field of a profile says so. */
const USES_RESPONSE: ReadonlySet<string> = new Set(['discord', 'twilio']);
/** Of such a timeout, a queued delivery leaves 0.6 s to the handler and the response. */
const SHORT_TIMEOUT_MS = 3000;
/** A burst may take this long to be handled. */
const LONG_ENOUGH_S = 3600;

/** Says how to receive the webhooks of a sender, by what happens to those that are refused. */
export function adviceFor(profile: SenderProfile): SenderAdvice {
  const { name, retries, switchOff, timeoutMs = Infinity, retryAfter } = profile;
  if (USES_RESPONSE.has(name)) return { use: 'middleware', because: 'uses your response' };
  if (retries === 'none') return { use: 'inbox', because: 'never retries' };
  if (switchOff !== undefined) return { use: 'inbox', because: 'disables the endpoint soon after failures' };
  if (timeoutMs <= SHORT_TIMEOUT_MS) return { use: 'inbox', because: 'waits 3 s or less' };
  if (retriesForS(profile) <= LONG_ENOUGH_S) return { use: 'inbox', because: 'gives up within an hour' };
  return {
    use: 'middleware',
    because: retryAfter === 'ignored' ? 'retries for hours' : 'honors Retry-After',
  };
}

/** For how many seconds a sender retries a delivery; Infinity if its profile does not say. */
export function retriesForS({ retries = {} }: SenderProfile): number {
  if (retries === 'none') return 0;
  const { maxAttempts = 0, scheduleS, windowS = Infinity } = retries;
  if (windowS !== Infinity || scheduleS === undefined) return windowS;
  const repeated = Math.max(0, maxAttempts - 1 - scheduleS.length);
  return scheduleS.reduce((sum, s) => sum + s, repeated * (scheduleS.at(-1) ?? 0));
}
