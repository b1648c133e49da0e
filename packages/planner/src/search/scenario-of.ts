import type { Request, RequestedSender } from '../request/read-request.ts';
import { arrivalsOf } from './arrivals.ts';
import type { Candidate } from './candidate.ts';

/** How long a durable store takes for a commit. */
const COMMIT_MS = 5;

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
  return {
    ...{ key: name, share, profile, recognized: isRecognized, identified: isRecognized },
    timeoutMs: profile.timeoutMs ?? timeoutMs,
  };
}
