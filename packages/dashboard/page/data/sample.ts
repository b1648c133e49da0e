import { snapshotOf, type Sample, type Source } from './wire.ts';

/** The history columns that follow from a state without history, under the names that the server gives them. */
export function sampleOf(source: Source): Sample {
  const snapshot = snapshotOf(source);
  const { state, depth, highWater, lowWater, effectiveCapacity, active, drainRate, booked } = snapshot;
  const all = snapshot.windows?.oneMinute.all;
  return {
    ...{ state, depth, highWater, lowWater, effectiveCapacity, active, drainRate, booked },
    ...(source.kind === 'intake' ? source.view.rates : inboxSample(source.view)),
    waitP50: all?.waitMs.p50 ?? null,
    waitP99: all?.waitMs.p99 ?? null,
    handlingP50: all?.handlingMs.p50 ?? null,
    handlingP99: all?.handlingMs.p99 ?? null,
    retryAfterP50: all?.retryAfterSeconds.p50 ?? null,
    retryAfterP99: all?.retryAfterSeconds.p99 ?? null,
  };
}

function inboxSample({ snapshot, rates }: Extract<Source, { kind: 'inbox' }>['view']): Sample {
  const { bytes, oldestAgeMs, shelved } = snapshot;
  return { ...rates, bytes, oldestAgeMs, shelved };
}
