import { Timer, type Clock } from '@webhook-backpressure/base';
import type { OutboxAlarmSettings } from '../alarms/alarm-options.ts';
import type { EndpointReading } from '../alarms/alarm-rules.ts';
import { AlarmWatch } from '../alarms/alarm-watch.ts';
import { BusiestNames } from '../windows/busiest-names.ts';
import { SliceClock } from '../windows/slice-clock.ts';
import { type Count, COUNTS, HISTOGRAMS, SlicedFigures } from '../windows/sliced-figures.ts';
import { EndpointAlarms, type EndpointReadings } from './endpoint-alarms.ts';
import type { OutboxAlarmEvent } from './outbox-events.ts';
import type { ActiveOutboxAlarm, EndpointWindow } from './sender.ts';

/** How many endpoints have figures. */
const MAX_ENDPOINTS = 1000;
/** The timer waits at least this long. */
const MIN_MS = 1;

/** The meaning of the counts of a window here: their names are those of an intake. */
const OWN_COUNTS = {
  attempts: COUNTS.arrivals,
  limited: COUNTS.refused,
  delivered: COUNTS.completed,
  failed: COUNTS.failed,
  disabled: COUNTS.lossRisk,
  dead: COUNTS.dead,
} as const;
const LATENCY = HISTOGRAMS.waitMs;
const REQUEST = HISTOGRAMS.handlingMs;

const NO_WINDOW: EndpointWindow = {
  attempts: 0,
  limited: 0,
  limitedRatio: 0,
  failed: 0,
  delivered: 0,
  latencyMs: { p50: null, p99: null },
  meanLatencyMs: null,
  requestMs: { p50: null, p99: null },
};

/** What an observation reads in a sender, and how it reports alarms. */
export interface OutboxHandle {
  readonly kind: 'outbox';
  readonly clock: Clock;
  /** The monotonic clock. */
  readonly now: () => number;
  readonly isOpen: () => boolean;
  /** How many events are unfinished. */
  readonly depth: () => number;
  /** How long calls of the store have been failing; 0 if they work. */
  readonly storeFailingMs: () => number;
  /** Queued events of an endpoint; 0 for one that has none. */
  readonly queuedOf: (endpoint: string) => number;
  /** Calls back for each endpoint that has queued events, with their number. */
  readonly forEachQueued: (action: (endpoint: string, queued: number) => void) => void;
  readonly report: (nowMs: number, event: OutboxAlarmEvent) => void;
  /**
   * From now on, the sender calls the monitor at each request and dead letter. It cannot count by events: those of a batch
   * do not say which of them belong to one request.
   */
  readonly measure: (monitor: OutboxMonitor) => void;
}

/**
 * Measures the last five minutes of a sender and of its busiest endpoints, and judges its alarms: at each reading
 * and every 5 s as long as there are events, or a raised alarm that ends by the passage of time. The
 * timer keeps no process alive. Every call but a read is O(log n).
 */
export class OutboxMonitor implements EndpointReadings {
  readonly #of: OutboxHandle;
  readonly #settings: () => OutboxAlarmSettings | false;
  readonly #all = new SlicedFigures();
  readonly #endpoints = new BusiestNames(MAX_ENDPOINTS);
  readonly #slices: SliceClock;
  readonly #watch = new AlarmWatch();
  readonly #endpointAlarms = new EndpointAlarms();
  readonly #timer: Timer;
  #hasEnded = false;

  /** @param settings - those of an open sender. */
  constructor(of: OutboxHandle, settings: () => OutboxAlarmSettings | false) {
    const nowMs = of.now();
    this.#of = of;
    this.#settings = () => !this.#hasEnded && of.isOpen() && settings();
    this.#slices = new SliceClock([this.#all, this.#endpoints], nowMs);
    this.#timer = new Timer(of.clock, () => {
      this.judge(of.now());
    });
  }

  /** A request was started. */
  started(endpoint: string, nowMs: number): void {
    this.#slices.advance(nowMs);
    this.#all.count(OWN_COUNTS.attempts);
    this.#endpoints.arrived(endpoint).count(OWN_COUNTS.attempts);
    this.#wake(nowMs);
  }

  /**
   * The endpoint accepted a request.
   *
   * @param events - how many were delivered.
   * @param latencyMs - since `send`, of the oldest event.
   * @param tookMs - how long the request took.
   */
  delivered(endpoint: string, events: number, latencyMs: number, tookMs: number, nowMs: number): void {
    this.#slices.advance(nowMs);
    for (const figures of [this.#all, this.#endpoints.find(endpoint)]) {
      figures?.count(OWN_COUNTS.delivered, events);
      figures?.measure(LATENCY, latencyMs);
      figures?.measure(REQUEST, tookMs);
    }
  }

  /** A request ended otherwise: the endpoint asked to wait, or anything else. */
  ended(endpoint: string, how: 'limited' | 'failed', tookMs: number, nowMs: number): void {
    this.#slices.advance(nowMs);
    for (const figures of [this.#all, this.#endpoints.find(endpoint)]) {
      figures?.count(OWN_COUNTS[how]);
      figures?.measure(REQUEST, tookMs);
    }
    this.#wake(nowMs);
  }

  /** Events became dead letters, or endpoints were disabled. */
  lost(what: 'dead' | 'disabled', count: number, nowMs: number): void {
    this.#slices.advance(nowMs);
    this.#all.count(OWN_COUNTS[what], count);
    this.#wake(nowMs);
  }

  /** The number of unfinished events has changed, or calls of the store have begun to fail. */
  moved(nowMs: number): void {
    this.#watch.noteDepth(this.#of.depth(), nowMs);
    this.#wake(nowMs);
  }

  /** The last five minutes of an endpoint: 0 and null if it is not among the busiest. */
  window(endpoint: string, nowMs: number): EndpointWindow {
    this.#slices.advance(nowMs);
    const figures = this.#endpoints.find(endpoint);
    return figures === undefined ? NO_WINDOW : windowOf(figures);
  }

  /** The ids of the endpoints with the most attempts in the last five minutes, the busiest first: up to 1,000. */
  busiest(nowMs: number): string[] {
    this.#slices.advance(nowMs);
    const found: { readonly endpoint: string; readonly attempts: number }[] = [];
    this.#endpoints.forEach((endpoint, figures) => {
      const attempts = countIn(figures, OWN_COUNTS.attempts);
      if (attempts > 0) found.push({ endpoint, attempts });
    });
    found.sort((a, b) => b.attempts - a.attempts);
    return found.slice(0, MAX_ENDPOINTS).map(({ endpoint }) => endpoint);
  }

  /** The raised alarms, which are judged first. */
  alarms(nowMs: number): ActiveOutboxAlarm[] {
    this.judge(nowMs);
    return [
      ...this.#watch.read(nowMs).map((alarm) => ({ ...alarm, endpoint: undefined })),
      ...this.#endpointAlarms.read(nowMs),
    ];
  }

  /** Ends all alarms and the timer. The windows are still measured. */
  end(nowMs: number): void {
    this.#hasEnded = true;
    this.judge(nowMs);
  }

  /** The figures by which the alarms of an endpoint are judged. */
  reading(endpoint: string): EndpointReading {
    return readingOf(this.#endpoints.find(endpoint), this.#of.queuedOf(endpoint));
  }

  /** An endpoint may have queued events without figures, such as a paused one, and figures without queued events. */
  forEachReading(action: (endpoint: string, reading: EndpointReading) => void): void {
    this.#endpoints.forEach((endpoint, figures) => {
      action(endpoint, readingOf(figures, this.#of.queuedOf(endpoint)));
    });
    this.#of.forEachQueued((endpoint, queued) => {
      if (this.#endpoints.find(endpoint) === undefined) action(endpoint, readingOf(undefined, queued));
    });
  }

  /** Judges the alarms, after a change of the options for example. */
  judge(nowMs: number): void {
    const of = this.#of;
    this.#slices.advance(nowMs);
    const settings = this.#settings();
    const reading = {
      depth: of.depth(),
      storeFailingMs: of.storeFailingMs(),
      dead: countIn(this.#all, OWN_COUNTS.dead),
      disabled: countIn(this.#all, OWN_COUNTS.disabled),
      // Those of an intake.
      arrivals: 0,
      refused: 0,
      lossRisk: 0,
      stalledMs: 0,
      endangered: 0,
      oldestAgeMs: 0,
    };
    this.#watch.judge(reading, settings, nowMs, (event) => {
      of.report(nowMs, { ...event, endpoint: undefined });
    });
    this.#endpointAlarms.judge(this, settings, nowMs, (event) => {
      of.report(nowMs, event);
    });
    if (this.#hasEnded) this.#timer.clear();
    else if (reading.depth > 0 || this.#watch.isTimed || this.#endpointAlarms.any) this.#wake(nowMs);
  }

  /** Makes sure that the alarms are judged at the end of the slice. */
  #wake(nowMs: number): void {
    if (this.#settings() === false) return;
    // A rest of 1e-12 ms is lost when it is added to the time: the timer would be due again at the same time, forever.
    this.#timer.set(nowMs, Math.max(MIN_MS, this.#slices.leftMs(nowMs)));
  }
}

function countIn(figures: SlicedFigures, what: Count): number {
  return figures.countIn('fiveMinutes', what);
}

/** Without percentiles, which would take longer. */
function readingOf(figures: SlicedFigures | undefined, queued: number): EndpointReading {
  if (figures === undefined) return { attempts: 0, limited: 0, meanLatencyMs: null, queued };
  return {
    attempts: countIn(figures, OWN_COUNTS.attempts),
    limited: countIn(figures, OWN_COUNTS.limited),
    meanLatencyMs: figures.meanIn('fiveMinutes', LATENCY),
    queued,
  };
}

function windowOf(figures: SlicedFigures): EndpointWindow {
  const { attempts, limited, meanLatencyMs } = readingOf(figures, 0);
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
