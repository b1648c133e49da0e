import type { Judgment } from '../answers/outcome.ts';
import type { BucketLimit, Buckets } from '../buckets/buckets.ts';
import { RateAuditor } from '../buckets/rate-audit.ts';
import { perSecondOf, type EndpointSettings } from '../options/settings.ts';
import type { EndpointHealth, Pace } from '../pace/pace.ts';
import type { SenderReport } from '../watch/sender-report.ts';
import type { Attempt } from './attempt.ts';
import type { Destination, Learned } from './destination.ts';

export interface LearningParts {
  readonly now: () => number;
  readonly report: SenderReport;
  readonly buckets: Buckets;
  readonly newPace: (settings: EndpointSettings) => Pace;
  readonly newHealth: () => EndpointHealth;
}

/** Passes the results of attempts on to the limits and the health of an endpoint, and reports changes. */
export class Learning {
  readonly #parts: LearningParts;
  /** Limits that an operator has set in this process. */
  readonly #limits = new Map<string, BucketLimit>();

  constructor(parts: LearningParts) {
    this.#parts = parts;
  }

  /** Replaces the limit of an endpoint in this process; undefined: by that of its settings. */
  setLimit(id: string, limit: BucketLimit | undefined): void {
    if (limit === undefined) this.#limits.delete(id);
    else this.#limits.set(id, limit);
  }

  /** The knowledge about an endpoint, with these settings. */
  of(destination: Destination, settings: EndpointSettings): Learned {
    const { now, newPace, newHealth } = this.#parts;
    const { learned } = destination;
    const limit = this.#limits.get(destination.id) ?? settings.limit;
    if (learned === undefined) {
      const pace = newPace({ ...settings, limit });
      return (destination.learned = {
        ...{ pace, health: newHealth(), audit: new RateAuditor(limit, now()) },
        ...{ settings, limit, lastError: undefined, batching: undefined },
      });
    }
    if (learned.settings !== settings || learned.limit !== limit) {
      learned.settings = settings;
      learned.limit = limit;
      learned.pace.set(limit, settings.maxInFlight, now());
      // A higher rate may allow a start earlier.
      destination.tokenAtMs = 0;
    }
    return learned;
  }

  /** An attempt ended. `ageMs`: since its first event was sent. */
  learn(attempt: Attempt, { outcome, hints, error }: Judgment, ageMs: number): void {
    const { now, buckets } = this.#parts;
    const { destination, learned, livedMs, startedAtMs } = attempt;
    const { pace, health } = learned;
    const nowMs = now();
    const before = stateOf(learned);
    // It no longer counts as in flight.
    const inFlight = destination.inFlight + 1;
    if (outcome.kind === 'delivered') pace.succeeded(startedAtMs, livedMs, inFlight, hints, nowMs);
    else if (outcome.kind === 'limited') pace.limited(startedAtMs, outcome.waitMs, hints, nowMs);
    else pace.failed(startedAtMs, hints, nowMs);
    if (outcome.kind === 'down') health.failed(startedAtMs, ageMs, nowMs);
    else health.answered(nowMs);
    learned.lastError = outcome.kind === 'delivered' ? undefined : error;
    if (pace.waitUntilMs > nowMs && pace.waitUntilMs !== before.waitUntilMs)
      buckets.pause(destination.id, pace.waitUntilMs - nowMs, pace.limit);
    this.#report(destination.id, learned, before, nowMs);
  }

  #report(endpoint: string, learned: Learned, before: State, nowMs: number): void {
    const { report } = this.#parts;
    if (!report.hasListeners) return;
    const { pace, health, lastError = '' } = learned;
    const { limit, maxInFlight, waitUntilMs, waitsBecause, isSlowed } = pace;
    const rates = { endpoint, ratePerSecond: perSecondOf(limit), maxInFlight };
    if (waitsBecause !== undefined && waitUntilMs > before.waitUntilMs && waitUntilMs > nowMs)
      report.emit({ type: 'waiting', endpoint, because: waitsBecause, forMs: waitUntilMs - nowMs });
    if (isSlowed && (!before.isSlowed || rates.ratePerSecond < before.perSecond))
      report.emit({ type: 'slowed', ...rates });
    else if (before.isSlowed && !isSlowed) report.emit({ type: 'restored', ...rates });
    if (health.isFailing && !before.isFailing) {
      const retryInMs = Math.max(0, health.probeAtMs - nowMs);
      report.emit({ type: 'failing', endpoint, error: lastError, retryInMs });
    } else if (before.isFailing && !health.isFailing) report.emit({ type: 'recovered', endpoint });
  }
}

/** The values that are compared before and after an attempt. */
interface State {
  readonly perSecond: number;
  readonly waitUntilMs: number;
  readonly isSlowed: boolean;
  readonly isFailing: boolean;
}

function stateOf({ pace, health }: Learned): State {
  const { limit, waitUntilMs, isSlowed } = pace;
  return { perSecond: perSecondOf(limit), waitUntilMs, isSlowed, isFailing: health.isFailing };
}
