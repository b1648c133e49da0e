import type { Request, RequestedSender } from '../request/read-request.ts';
import { arrivalsOf } from './arrivals.ts';
import type { Candidate } from './candidate.ts';

/** How long a durable store takes for a commit. */
const COMMIT_MS = 5;

/** A sender of which the receiver knows nothing: exponential backoff to an hour, for a day. */
const UNRECOGNIZED = { identified: false, retry: 'exponential:10:2:3600', maxAttempts: 33 };

/** The scenario that plays a request with a configuration, as parsed JSON. */
export function scenarioOf(request: Request, candidate: Candidate): object {
  const { service, seed, senders, receivers } = request;
  return {
    seed,
    service,
    ...receiverOf(candidate),
    ...(receivers > 1 && candidate.way === 'hold' ? { fleet: { receivers } } : {}),
    arrivals: arrivalsOf(request).map((arrival) => ({ ...arrival, process: 'poisson' })),
    senders: senders.map((sender) => senderOf(sender, request.timeoutMs)),
  };
}

function receiverOf({ way, options, concurrency }: Candidate): object {
  switch (way) {
    case 'none':
      return { policy: 'unbounded', intake: { concurrency } };
    case 'hold':
      return { intake: { ...options, concurrency } };
    case 'inbox':
      return { mode: 'inbox', inbox: { ...options, concurrency, commitMs: COMMIT_MS } };
  }
}

function senderOf({ name, share, profile, isRecognized }: RequestedSender, timeoutMs: number): object {
  const common = { key: name, share, timeoutMs: profile.timeoutMs ?? timeoutMs };
  return isRecognized ? { ...common, profile } : { ...common, ...UNRECOGNIZED };
}
