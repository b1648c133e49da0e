import type { ActiveSenderAlarm, EndpointWindow, SenderAlarmEvent } from '@webhook-backpressure/observe';
import { Alarm as Timer, type Clock } from '@webhook-backpressure/base';
import type { SenderAlarmSettings } from '@webhook-backpressure/core';
import { AlarmWatch, type EndpointReading } from '@webhook-backpressure/core/extend';
import { EndpointAlarms, type EndpointReadings } from './endpoint-alarms.ts';
import { EndpointFigures } from './endpoint-figures.ts';

/** The timer waits at least this long. */
const LEAST_MS = 1;

const NO_FIGURES = { attempts: 0, limited: 0, meanLatencyMs: null } as const;

/** A sender, as its monitor sees it. */
export interface MonitoredSender {
  readonly clock: Clock;
  /** The monotonic clock. */
  readonly now: () => number;
  readonly listeners: { readonly any: boolean };
  readonly settings: SenderAlarmSettings | false;
  /** How many events are unfinished. */
  readonly depth: () => number;
  /** How long calls of the store have been failing; 0 if they work. */
  readonly storeFailingMs: () => number;
  /** Queued events of an endpoint; 0 for one that has none. */
  readonly queuedOf: (endpoint: string) => number;
  /** Calls back for each endpoint that has queued events, with their number. */
  readonly forEachQueued: (action: (endpoint: string, queued: number) => void) => void;
  readonly emit: (nowMs: number, event: SenderAlarmEvent) => void;
}

/**
 * Measures the last five minutes of a sender and of its busiest endpoints, and judges its alarms: at each snapshot and,
 * while there are listeners, every 5 s as long as there are events, or a raised alarm that ends by the passage of time. The
 * timer keeps no process alive.
 */
export class SenderMonitor {
  readonly #of: MonitoredSender;
  readonly #figures: EndpointFigures;
  readonly #watch = new AlarmWatch();
  readonly #endpointAlarms = new EndpointAlarms();
  readonly #readings: EndpointReadings;
  readonly #timer: Timer;
  #hasEnded = false;

  constructor(of: MonitoredSender, nowMs: number) {
    this.#of = of;
    const figures = (this.#figures = new EndpointFigures(nowMs));
    this.#readings = {
      of: (endpoint) => ({ ...(figures.brief(endpoint) ?? NO_FIGURES), queued: of.queuedOf(endpoint) }),
      forEach: (action) => {
        forEachReading(of, figures, action);
      },
    };
    this.#timer = new Timer(of.clock, this.#tick);
  }

  /** A request was started. */
  started(endpoint: string, nowMs: number): void {
    this.#figures.started(endpoint, nowMs);
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
    this.#figures.delivered(endpoint, events, latencyMs, tookMs, nowMs);
  }

  /** A request ended otherwise: the endpoint asked to wait, or anything else. */
  ended(endpoint: string, how: 'limited' | 'failed', tookMs: number, nowMs: number): void {
    this.#figures.ended(endpoint, how, tookMs, nowMs);
    this.#wake(nowMs);
  }

  /** Events became dead letters, or endpoints were disabled. */
  lost(what: 'dead' | 'disabled', count: number, nowMs: number): void {
    this.#figures.count(what, count, nowMs);
    this.#wake(nowMs);
  }

  /** The number of unfinished events has changed, or calls of the store have begun to fail. */
  moved(nowMs: number): void {
    this.#watch.noteDepth(this.#of.depth(), nowMs);
    this.#wake(nowMs);
  }

  /** The last five minutes of an endpoint. */
  window(endpoint: string, nowMs: number): EndpointWindow {
    this.#figures.advance(nowMs);
    return this.#figures.read(endpoint);
  }

  /** The last five minutes of all endpoints together. */
  windowOfAll(nowMs: number): EndpointWindow {
    this.#figures.advance(nowMs);
    return this.#figures.readAll();
  }

  /** The ids of the endpoints with the most attempts in the last five minutes, the busiest first: up to 1,000. */
  busiest(nowMs: number): string[] {
    this.#figures.advance(nowMs);
    return this.#figures.busiest();
  }

  /** The raised alarms, which are judged first. */
  alarms(nowMs: number): ActiveSenderAlarm[] {
    this.#judge(nowMs);
    return [
      ...this.#watch.read(nowMs).map((alarm) => ({ ...alarm, endpoint: undefined })),
      ...this.#endpointAlarms.read(nowMs),
    ];
  }

  /** Ends all alarms and the timer. The windows are still measured. */
  end(nowMs: number): void {
    this.#hasEnded = true;
    this.#judge(nowMs);
  }

  readonly #tick = (): void => {
    this.#judge(this.#of.now());
  };

  #judge(nowMs: number): void {
    const of = this.#of;
    const figures = this.#figures;
    figures.advance(nowMs);
    const settings = this.#hasEnded ? false : of.settings;
    const reading = {
      depth: of.depth(),
      storeFailingMs: of.storeFailingMs(),
      dead: figures.countOfAll('dead'),
      disabled: figures.countOfAll('disabled'),
      ...{ arrivals: 0, refused: 0, lossRisk: 0, stalledMs: 0, endangered: 0, oldestAgeMs: 0 },
    };
    this.#watch.judge(reading, settings, nowMs, (event) => {
      of.emit(nowMs, { ...event, endpoint: undefined });
    });
    this.#endpointAlarms.judge(this.#readings, settings, nowMs, (event) => {
      of.emit(nowMs, event);
    });
    if (this.#hasEnded) this.#timer.clear();
    else if (reading.depth > 0 || this.#watch.isTimed || this.#endpointAlarms.any) this.#wake(nowMs);
  }

  /** Makes sure that the alarms are judged at the end of the slice, if there is a listener. */
  #wake(nowMs: number): void {
    if (this.#hasEnded || this.#of.settings === false || !this.#of.listeners.any) return;
    // A rest of 1e-12 ms is lost when it is added to the time: the timer would be due again at the same time, forever.
    this.#timer.set(nowMs, Math.max(LEAST_MS, this.#figures.leftMs(nowMs)));
  }
}

/** An endpoint may have queued events without figures, such as a paused one, and figures without queued events. */
function forEachReading(
  of: MonitoredSender,
  figures: EndpointFigures,
  action: (endpoint: string, reading: EndpointReading) => void,
): void {
  figures.forEach((endpoint, brief) => {
    action(endpoint, { ...brief, queued: of.queuedOf(endpoint) });
  });
  of.forEachQueued((endpoint, queued) => {
    if (!figures.has(endpoint)) action(endpoint, { ...NO_FIGURES, queued });
  });
}
