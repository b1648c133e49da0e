import type { Request, RequestedSender } from '../request/read-request.ts';
import type { ScenarioInput, SenderInput } from '../scenario/scenario-input.ts';
import { arrivalsOf } from './arrivals.ts';
import type { Configuration } from './configuration.ts';

/**
 * How long a durable store takes for a commit. It makes one at a time, as `sqliteStore` does: deliveries that arrive
 * together share one, and each worker waits for that of its claim and that of its outcome.
 */
export const COMMIT_MS = 5;

/** The scenario that plays a request with a configuration, as plain JSON. */
export function scenarioOf(request: Request, configuration: Configuration): ScenarioInput {
  const { service, seed, senders, receivers } = request;
  return {
    seed,
    service,
    ...receiverOf(configuration),
    ...(receivers > 1 && configuration.mode === 'hold' ? { fleet: { receivers } } : {}),
    arrivals: arrivalsOf(request).map((arrival) => ({ ...arrival, process: 'poisson' })),
    senders: senders.map((sender) => senderOf(sender, request.timeoutMs)),
  };
}

function receiverOf({
  mode,
  options,
  concurrency,
}: Configuration): Pick<ScenarioInput, 'mode' | 'policy' | 'intake' | 'inbox'> {
  switch (mode) {
    case 'none':
      return { policy: 'unbounded', intake: { concurrency } };
    case 'hold':
      return { intake: { ...options, concurrency } };
    case 'inbox':
      return { mode: 'inbox', inbox: { ...options, concurrency, commitMs: COMMIT_MS } };
  }
}

function senderOf({ name, share, profile, isRecognized }: RequestedSender, timeoutMs: number): SenderInput {
  return {
    ...{ key: name, share, profile, recognized: isRecognized, identified: isRecognized },
    timeoutMs: profile.timeoutMs ?? timeoutMs,
  };
}
