import type {
  ActiveAlarm,
  AlarmOptions,
  AlarmSettings,
  Intake,
  IntakeEvent,
  IntakeSnapshot,
  Windows,
} from '@webhook-backpressure/core';
import {
  ALARM_DEFAULTS,
  alarmSettings,
  measuring,
  Monitor,
  type ObserveHandle,
  observeHandleOf,
} from '@webhook-backpressure/core/extend';
import { checkNames, invalid, shared } from '@webhook-backpressure/base';
import type { Inbox, InboxSnapshot } from '@webhook-backpressure/inbox';

/** The options of an observation. `undefined` means absent. */
export interface ObserveOptions {
  /** When alarms are raised; `false` for none. An update keeps fields that are absent. */
  alarms?: false | AlarmOptions | undefined;
}

/** What an observation has measured, as a copy. */
export interface ObservationReading {
  /** The figures of the last one and five minutes, for all deliveries and for the busiest keys and senders. */
  readonly windows: Windows;
  /** The alarms that are raised now. */
  readonly alarms: readonly ActiveAlarm[];
}

/** The measurement of an intake's windows and alarms, from its events. */
export interface Observation {
  /** The windows and the raised alarms. They are judged first, so this can report an alarm to the subscribers of the intake. */
  read(): ObservationReading;
  /**
   * Changes options: all that are given or, on an error, none.
   *
   * @throws BackpressureError `ERR_WBP_ALARMS`, `ERR_WBP_OBSERVE` or `ERR_WBP_UNKNOWN_OPTION` for an invalid option.
   */
  update(options: ObserveOptions): void;
}

/** A snapshot of an intake, with its windows and alarms. */
export interface ObservedIntakeSnapshot extends IntakeSnapshot, ObservationReading {}

const observations = shared('observations', () => new WeakMap<Intake, Observation>());

/**
 * Measures the windows of an intake and judges its alarms, from this call until the intake has closed. Alarms are events
 * of the intake. An intake has one observation: a later call returns the same one, with its options changed by those given.
 * `logEvents`, the metric exporters and the dashboard make this call too.
 *
 * Alarms are judged at each `read` and `update` and, while a delivery is queued or active, every 5 s, by a timer that
 * keeps no process alive.
 *
 * @param intake - of `createIntake` or of a middleware.
 * @throws BackpressureError `ERR_WBP_OBSERVE`, `ERR_WBP_ALARMS` or `ERR_WBP_UNKNOWN_OPTION` for an invalid argument.
 */
export function observe(intake: Intake, options: ObserveOptions = {}): Observation {
  const observation = observationOf(intake, options);
  if (observation === undefined)
    throw invalid('ERR_WBP_OBSERVE', 'intake', 'an intake of createIntake() or of a middleware', intake);
  return observation;
}

/** See {@link observe}. Undefined for anything but an intake of this package. */
export function observationOf(intake: unknown, options: ObserveOptions = {}): Observation | undefined {
  const handle = observeHandleOf(intake);
  if (handle === undefined) return undefined;
  const own = intake as Intake;
  let observation = observations.get(own);
  if (observation === undefined) observations.set(own, (observation = new IntakeObservation(own, handle)));
  observation.update(options);
  return observation;
}

const NO_FIGURES = {
  arrivals: 0,
  refused: 0,
  refusedRatio: 0,
  completed: 0,
  failed: 0,
  waitMs: { p50: null, p99: null },
  handlingMs: { p50: null, p99: null },
  retryAfterSeconds: { p50: null, p99: null },
};
const NO_WINDOW = { seconds: 0, all: NO_FIGURES, keys: [], senders: [] };
/** The reading of an intake that is not of this package. */
const UNOBSERVED: ObservationReading = {
  windows: { oneMinute: NO_WINDOW, fiveMinutes: NO_WINDOW },
  alarms: [],
};

/** Reads snapshots that have windows and alarms: those of an inbox have, and to those of an intake its observation adds them. */
export function observedSnapshots(source: Intake): () => ObservedIntakeSnapshot;
export function observedSnapshots(source: Inbox): () => InboxSnapshot;
export function observedSnapshots(source: Intake | Inbox): () => ObservedIntakeSnapshot | InboxSnapshot {
  const observation = observationOf(source);
  return () => {
    // First, since it may report an alarm, whose listeners may do anything.
    const reading = observation?.read() ?? UNOBSERVED;
    const snapshot = source.snapshot();
    return 'windows' in snapshot ? snapshot : { ...snapshot, ...reading };
  };
}

/** Counts the events of an intake in its windows, and judges its alarms. */
class IntakeObservation implements Observation {
  readonly #handle: ObserveHandle;
  readonly #monitor: Monitor;
  #alarms: AlarmSettings | false = ALARM_DEFAULTS;
  /** The number of the latest admission that was counted. */
  #admitted: number;

  constructor(intake: Intake, handle: ObserveHandle) {
    this.#handle = handle;
    this.#admitted = intake.snapshot().totals.admitted;
    this.#monitor = new Monitor(
      {
        clock: handle.clock,
        now: () => handle.now(),
        listeners: { any: true },
        settings: () => handle.isOpen() && this.#alarms,
        depth: () => handle.depth(),
        isWaiting: () => !handle.isIdle(),
        read: (at) => ({
          stalledMs: handle.stalledMs(at),
          endangered: handle.endangered(at),
          oldestAgeMs: 0,
          storeFailingMs: 0,
        }),
        emit: (at, event) => {
          handle.report(at, event);
        },
      },
      handle.now(),
    );
    intake.subscribe(measuring(this.#count));
  }

  read(): ObservationReading {
    return this.#monitor.read(this.#handle.now());
  }

  update(options: ObserveOptions): void {
    checkNames(options, 'options', ['alarms'], 'ERR_WBP_OBSERVE');
    this.#alarms = alarmSettings(ALARM_DEFAULTS, this.#alarms, options.alarms);
    this.#monitor.judge(this.#handle.now());
  }

  readonly #count = (event: IntakeEvent): void => {
    const monitor = this.#monitor;
    switch (event.type) {
      case 'refused':
        monitor.arrived(event.key, event.sender, event.at);
        monitor.refused(event.key, event.sender, event.retryAfterSeconds, event.at);
        if (event.lossRisk) monitor.lost('lossRisk', event.at);
        break;
      case 'queued':
        this.#arrived(event);
        break;
      case 'started':
        this.#arrived(event);
        monitor.started(event.key, event.sender, event.waitedMs, event.at);
        break;
      case 'withdrawn':
        monitor.moved(event.at);
        // No one gets the answer to an abandoned delivery.
        if (event.lossRisk && event.cause !== 'abandoned') monitor.lost('lossRisk', event.at);
        break;
      case 'completed':
        monitor.ended(event.key, event.sender, event.outcome === 'success', event.tookMs, event.at);
        break;
      case 'closed':
        monitor.end(event.at);
        break;
      default:
    }
  };

  /** Counts the arrival of a delivery, unless an earlier event of it, or one before the observation, has. */
  #arrived({ key, sender, sequence, at }: Extract<IntakeEvent, { type: 'queued' | 'started' }>): void {
    if (sequence <= this.#admitted) return;
    this.#admitted = sequence;
    this.#monitor.arrived(key, sender, at);
  }
}
