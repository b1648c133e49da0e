import { snapshotOf, type AnySource, type Sample, type OutboxSource, type Source } from './wire.ts';

/** The history columns that follow from a state without history, under the names that the server gives them. */
export function sampleOf(source: AnySource): Sample {
  return source.kind === 'outbox' ? senderSample(source) : receiverSample(source);
}

function receiverSample(source: Source): Sample {
  const snapshot = snapshotOf(source);
  const { state, depth, highWater, lowWater, effectiveCapacity, active, drainRate, booked } = snapshot;
  const { waitMs, handlingMs, retryAfterSeconds } = snapshot.windows.lastSlice;
  return {
    state,
    depth,
    highWater,
    lowWater,
    effectiveCapacity,
    active,
    drainRate,
    booked,
    ...(source.kind === 'intake' ? source.view.rates : inboxSample(source.view)),
    waitP50: waitMs.p50,
    waitP99: waitMs.p99,
    handlingP50: handlingMs.p50,
    handlingP99: handlingMs.p99,
    retryAfterP50: retryAfterSeconds.p50,
    retryAfterP99: retryAfterSeconds.p99,
  };
}

function inboxSample({ snapshot, rates }: Extract<Source, { kind: 'inbox' }>['view']): Sample {
  const { bytes, oldestAgeMs, deadLetters } = snapshot;
  return { ...rates, bytes, oldestAgeMs, deadLetters };
}

function senderSample({ view }: OutboxSource): Sample {
  const { state, depth, inFlight, oldestAgeMs, deadLetters } = view.snapshot;
  return { state, depth, inFlight, oldestAgeMs, deadLetters, ...view.rates };
}
