import type { EndpointWindow } from '@webhook-backpressure/observe';
import {
  BusiestNames,
  type Count,
  COUNTS,
  HISTOGRAMS,
  SliceClock,
  SlicedFigures,
} from '@webhook-backpressure/core/extend';

/** How many endpoints have figures. */
const MOST_ENDPOINTS = 1000;

type OwnCount = 'attempts' | 'limited' | 'delivered' | 'failed' | 'disabled' | 'dead';

/** The figures that alarms are judged by. Percentiles would take longer. */
export interface BriefFigures {
  readonly attempts: number;
  readonly limited: number;
  readonly meanLatencyMs: number | null;
}

/** The meaning of the counts of a window here: their names are those of an intake. */
const OWN_COUNTS: Readonly<Record<OwnCount, Count>> = {
  attempts: COUNTS.arrivals,
  limited: COUNTS.refused,
  delivered: COUNTS.completed,
  failed: COUNTS.failed,
  disabled: COUNTS.lossRisk,
  dead: COUNTS.dead,
};
const LATENCY = HISTOGRAMS.waitMs;
const REQUEST = HISTOGRAMS.handlingMs;

const NO_WINDOW: EndpointWindow = {
  ...{ attempts: 0, limited: 0, limitedRatio: 0, failed: 0, delivered: 0 },
  latencyMs: { p50: null, p99: null },
  meanLatencyMs: null,
  requestMs: { p50: null, p99: null },
};

/** Measures the last five minutes, of all endpoints together and of each of the busiest. Every call but a read is O(log n). */
export class EndpointFigures {
  readonly #all = new SlicedFigures();
  readonly #endpoints = new BusiestNames(MOST_ENDPOINTS);
  readonly #slices: SliceClock;

  constructor(nowMs: number) {
    this.#slices = new SliceClock([this.#all, this.#endpoints], nowMs);
  }

  /** The number of the current slice. Call {@link advance} first. */
  get slice(): number {
    return this.#slices.slice;
  }

  /** Milliseconds until the current slice ends. */
  leftMs(nowMs: number): number {
    return this.#slices.leftMs(nowMs);
  }

  /** Ends the slices that are over. */
  advance(nowMs: number): void {
    this.#slices.advance(nowMs);
  }

  /** A request was started. */
  started(endpoint: string, nowMs: number): void {
    this.#slices.advance(nowMs);
    this.#all.count(OWN_COUNTS.attempts);
    this.#endpoints.arrived(endpoint).count(OWN_COUNTS.attempts);
  }

  /** @param latencyMs - of the oldest event. */
  delivered(endpoint: string, events: number, latencyMs: number, tookMs: number, nowMs: number): void {
    this.#slices.advance(nowMs);
    for (const figures of [this.#all, this.#endpoints.find(endpoint)]) {
      figures?.count(OWN_COUNTS.delivered, events);
      figures?.measure(LATENCY, latencyMs);
      figures?.measure(REQUEST, tookMs);
    }
  }

  ended(endpoint: string, how: 'limited' | 'failed', tookMs: number, nowMs: number): void {
    this.#slices.advance(nowMs);
    for (const figures of [this.#all, this.#endpoints.find(endpoint)]) {
      figures?.count(OWN_COUNTS[how]);
      figures?.measure(REQUEST, tookMs);
    }
  }

  /** Counts for the whole sender. */
  count(what: 'dead' | 'disabled', by: number, nowMs: number): void {
    this.#slices.advance(nowMs);
    this.#all.count(OWN_COUNTS[what], by);
  }

  /** A count of the whole sender. Call {@link advance} first. */
  countOfAll(what: OwnCount): number {
    return countIn(this.#all, OWN_COUNTS[what]);
  }

  /** The figures of an endpoint: 0 and null if it is not among the busiest. Call {@link advance} first. */
  read(endpoint: string): EndpointWindow {
    const figures = this.#endpoints.find(endpoint);
    return figures === undefined ? NO_WINDOW : windowOf(figures);
  }

  /** The figures of all endpoints together. Call {@link advance} first. */
  readAll(): EndpointWindow {
    return windowOf(this.#all);
  }

  /** Whether an endpoint is among the busiest. */
  has(endpoint: string): boolean {
    return this.#endpoints.find(endpoint) !== undefined;
  }

  brief(endpoint: string): BriefFigures | undefined {
    const figures = this.#endpoints.find(endpoint);
    return figures && briefOf(figures);
  }

  /** Calls back for each endpoint that has figures. */
  forEach(action: (endpoint: string, brief: BriefFigures) => void): void {
    this.#endpoints.forEach((endpoint, figures) => {
      action(endpoint, briefOf(figures));
    });
  }

  /** The endpoints with the most attempts, the busiest first. Call {@link advance} first. */
  busiest(): string[] {
    const found: { readonly endpoint: string; readonly attempts: number }[] = [];
    this.#endpoints.forEach((endpoint, figures) => {
      const attempts = countIn(figures, OWN_COUNTS.attempts);
      if (attempts > 0) found.push({ endpoint, attempts });
    });
    found.sort((a, b) => b.attempts - a.attempts);
    return found.slice(0, MOST_ENDPOINTS).map(({ endpoint }) => endpoint);
  }
}

function countIn(figures: SlicedFigures, what: Count): number {
  return figures.countIn('fiveMinutes', what);
}

function briefOf(figures: SlicedFigures): BriefFigures {
  return {
    attempts: countIn(figures, OWN_COUNTS.attempts),
    limited: countIn(figures, OWN_COUNTS.limited),
    meanLatencyMs: figures.meanIn('fiveMinutes', LATENCY),
  };
}

function windowOf(figures: SlicedFigures): EndpointWindow {
  const { attempts, limited, meanLatencyMs } = briefOf(figures);
  return {
    attempts,
    limited,
    // An attempt that was started before the window may have ended in it.
    limitedRatio: attempts === 0 ? 0 : Math.min(1, limited / attempts),
    failed: countIn(figures, OWN_COUNTS.failed),
    delivered: countIn(figures, OWN_COUNTS.delivered),
    latencyMs: figures.percentilesIn('fiveMinutes', LATENCY),
    meanLatencyMs,
    requestMs: figures.percentilesIn('fiveMinutes', REQUEST),
  };
}
