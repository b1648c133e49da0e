import type { SenderProfile } from '@webhook-backpressure/core';
import type { Request, RequestedSender } from '../request/read-request.ts';
import { arrivalsOf } from './arrivals.ts';
import type { Candidate } from './candidate.ts';

/** Large enough to be no limit. */
const UNLIMITED = { capacity: 100_000_000, maxWaitMs: 86_400_000 };

/** How long a durable store takes for a commit. */
const COMMIT_MS = 5;

/** The scenario that plays a request with a configuration, as parsed JSON. */
export function scenarioOf(request: Request, candidate: Candidate): object {
  const { service, seed, senders, receivers } = request;
  const isFleet = receivers > 1 && candidate.way === 'hold';
  return {
    seed,
    service,
    ...receiverOf(candidate),
    ...(isFleet ? { fleet: { receivers } } : {}),
    arrivals: arrivalsOf(request).map((arrival) => ({ ...arrival, process: 'poisson' })),
    senders: senders.map((sender) => senderOf(sender, isFleet ? 0 : request.timeoutMs)),
  };
}

function receiverOf({ way, options, concurrency }: Candidate): object {
  switch (way) {
    case 'none':
      return { policy: 'queue', intake: { ...UNLIMITED, concurrency } };
    case 'hold':
      return { intake: { ...options, concurrency } };
    case 'inbox':
      return { mode: 'inbox', inbox: { ...options, concurrency, commitMs: COMMIT_MS } };
  }
}

/** @param timeoutMs - of senders whose own timeout is not known; 0: no sender times out. */
function senderOf({ name, share, profile }: RequestedSender, timeoutMs: number): object {
  if (profile === undefined)
    return {
      ...{ key: name, share, identified: false, retry: 'exponential:5:2:3600', maxAttempts: 30, timeoutMs },
    };
  const { retries } = profile;
  const ownMs = profile.timeoutMs;
  return {
    key: name,
    share,
    retry: retryOf(profile),
    maxAttempts: retries === 'none' ? 1 : (retries?.maxAttempts ?? 20),
    timeoutMs: timeoutMs === 0 ? 0 : (ownMs ?? timeoutMs),
    delivery: {
      ...(ownMs === undefined ? {} : { maxWaitMs: Math.max(0, ownMs - Math.max(500, 0.2 * ownMs)) }),
      ...(retries === 'none' ? { retries: false } : {}),
      ...(profile.status === undefined ? {} : { statusCode: profile.status }),
    },
  };
}

function retryOf({ retries, retryAfter }: SenderProfile): string {
  if (retries === 'none') return 'none';
  const honors = retryAfter === undefined || retryAfter !== 'ignored';
  const steps = retries?.scheduleS?.map((s) => Math.max(0.001, s)).join(',');
  if (steps === undefined) return honors ? 'retry-after' : 'exponential:60:2:7200';
  return honors ? `retry-after:${steps}` : `schedule:${steps}`;
}
