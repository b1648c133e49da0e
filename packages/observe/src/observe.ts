import { checkNames, invalid, shared } from '@webhook-backpressure/base';
import type { Intake, IntakeSnapshot } from '@webhook-backpressure/core';
import { measuring, type ObserveHandle, observeHandleOf } from '@webhook-backpressure/core/extend';
import type { Inbox, InboxSnapshot } from '@webhook-backpressure/inbox';
import type { ActiveAlarm } from './alarms/alarm.ts';
import {
  ALARM_DEFAULTS,
  type AlarmOptions,
  type AlarmSettings,
  alarmSettings,
  INBOX_ALARM_DEFAULTS,
  type InboxAlarmOptions,
  OUTBOX_ALARM_DEFAULTS,
  type OutboxAlarmOptions,
  type OutboxAlarmSettings,
} from './alarms/alarm-options.ts';
import { Monitor } from './alarms/monitor.ts';
import { inboxCounter, intakeCounter } from './counters.ts';
import { type OutboxHandle, OutboxMonitor } from './outbox/outbox-monitor.ts';
import type { ActiveOutboxAlarm, ObservableOutbox, OutboxSnapshot } from './outbox/sender.ts';
import type { Windows } from './windows/windows.ts';

/** The options of an observation. `undefined` means absent. */
export interface ObserveOptions<A = AlarmOptions> {
  /** When alarms are raised; `false` for none. An update keeps fields that are absent. */
  alarms?: false | A | undefined;
}

/** What the observation of an intake or an inbox has measured, as a copy. */
export interface ObservationReading {
  /** The figures of the last one and five minutes, for all deliveries and for the busiest keys and senders. */
  readonly windows: Windows;
  /** The alarms that are raised now. */
  readonly alarms: readonly ActiveAlarm[];
}

/** What the observation of a sender has measured, as a copy. The windows of its endpoints are in their snapshots. */
export interface OutboxReading {
  /** The alarms that are raised now. */
  readonly alarms: readonly ActiveOutboxAlarm[];
}

/** The measurement of the windows and alarms of an intake, an inbox or a sender. */
export interface Observation<R = ObservationReading, A = AlarmOptions> {
  /** The reading. Alarms are judged first, so this can report an alarm to the subscribers of the source. */
  read(): R;
  /**
   * Changes options: all that are given or, on an error, none.
   *
   * @throws BackpressureError `ERR_WBP_ALARMS`, `ERR_WBP_OBSERVE` or `ERR_WBP_UNKNOWN_OPTION` for an invalid option.
   */
  update(options: ObserveOptions<A>): void;
}

/** A snapshot of an intake, with its windows and alarms. */
export interface ObservedIntakeSnapshot extends IntakeSnapshot, ObservationReading {}
/** A snapshot of an inbox, with its windows and alarms. */
export interface ObservedInboxSnapshot extends InboxSnapshot, ObservationReading {}
/** A snapshot of a sender, with its alarms. */
export interface ObservedOutboxSnapshot extends OutboxSnapshot, OutboxReading {}

const observations = shared('observations', () => new WeakMap<object, Observation<unknown, object>>());

/**
 * Measures the windows of an intake, an inbox or a sender and judges its alarms, from this call until it has closed. Alarms
 * are events of the source. A source has one observation: a later call returns the same one, with its options changed by
 * those given. `logEvents`, the metric exporters and the dashboard make this call too.
 *
 * Alarms are judged at each `read` and `update` and, while a delivery or an event is unfinished, every 5 s, by a timer that
 * keeps no process alive.
 *
 * @param source - an intake of `createIntake` or of a middleware, an inbox or a sender.
 * @throws BackpressureError `ERR_WBP_OBSERVE`, `ERR_WBP_ALARMS` or `ERR_WBP_UNKNOWN_OPTION` for an invalid argument.
 */
export function observe(source: Intake, options?: ObserveOptions): Observation;
export function observe(
  source: Inbox,
  options?: ObserveOptions<InboxAlarmOptions>,
): Observation<ObservationReading, InboxAlarmOptions>;
export function observe(
  source: ObservableOutbox,
  options?: ObserveOptions<OutboxAlarmOptions>,
): Observation<OutboxReading, OutboxAlarmOptions>;
export function observe(source: unknown, options: ObserveOptions<object> = {}): unknown {
  const observation = observationOf(source, options);
  if (observation !== undefined) return observation;
  const rule = 'an intake of createIntake() or of a middleware, an inbox or a sender';
  throw invalid('ERR_WBP_OBSERVE', 'source', rule, source);
}

/** See {@link observe}. Undefined for anything but a source of these packages. */
export function observationOf(
  source: unknown,
  options: ObserveOptions<object> = {},
): Observation<unknown, object> | undefined {
  const handle = observeHandleOf(source) as ObserveHandle | OutboxHandle | undefined;
  if (handle === undefined) return undefined;
  const own = source as object;
  let observation = observations.get(own);
  if (observation === undefined) {
    observation =
      handle.kind === 'outbox'
        ? new OutboxObservation(handle)
        : new DeliveryObservation(source as Intake | Inbox, handle);
    observations.set(own, observation);
  }
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
/** The reading of a source that is not of these packages. */
const UNOBSERVED: ObservationReading = {
  windows: { lastSlice: NO_FIGURES, oneMinute: NO_WINDOW, fiveMinutes: NO_WINDOW },
  alarms: [],
};

/** Reads snapshots with what the observation has measured. */
export function observedSnapshots(source: Intake): () => ObservedIntakeSnapshot;
export function observedSnapshots(source: Inbox): () => ObservedInboxSnapshot;
export function observedSnapshots(source: ObservableOutbox): () => ObservedOutboxSnapshot;
export function observedSnapshots(source: Intake | Inbox | ObservableOutbox): () => object {
  const observation = observationOf(source);
  return () => {
    // First, since it may report an alarm, whose listeners may do anything.
    const reading = observation?.read() ?? UNOBSERVED;
    return { ...reading, ...source.snapshot() };
  };
}

/** Counts the events of an intake or inbox in its windows, and judges its alarms. */
class DeliveryObservation implements Observation {
  readonly #handle: ObserveHandle;
  readonly #monitor: Monitor;
  readonly #defaults: AlarmSettings;
  #alarms: AlarmSettings | false;

  constructor(source: Intake | Inbox, handle: ObserveHandle) {
    this.#handle = handle;
    this.#alarms = this.#defaults = handle.kind === 'inbox' ? INBOX_ALARM_DEFAULTS : ALARM_DEFAULTS;
    this.#monitor = new Monitor(
      {
        clock: handle.clock,
        now: () => handle.now(),
        settings: () => handle.isOpen() && this.#alarms,
        depth: () => handle.depth(),
        isWaiting: () => !handle.isIdle(),
        read: (at) => ({
          stalledMs: handle.stalledMs(at),
          endangered: handle.endangered(at),
          oldestAgeMs: handle.oldestAgeMs(),
          storeFailingMs: handle.storeFailingMs(),
        }),
        emit: (at, event) => {
          handle.report(at, event);
        },
      },
      handle.now(),
    );
    if (isInbox(source, handle)) source.subscribe(measuring(inboxCounter(this.#monitor, handle.isDryRun)));
    else source.subscribe(measuring(intakeCounter(this.#monitor, source.snapshot().totals.admitted)));
  }

  read(): ObservationReading {
    return this.#monitor.read(this.#handle.now());
  }

  update(options: ObserveOptions): void {
    checkNames(options, 'options', ['alarms'], 'ERR_WBP_OBSERVE');
    this.#alarms = alarmSettings(this.#defaults, this.#alarms, options.alarms);
    this.#monitor.judge(this.#handle.now());
  }
}

/** Reads the figures of a sender, and judges its alarms. */
class OutboxObservation implements Observation<OutboxReading, OutboxAlarmOptions> {
  readonly #handle: OutboxHandle;
  readonly #monitor: OutboxMonitor;
  #alarms: OutboxAlarmSettings | false = OUTBOX_ALARM_DEFAULTS;

  constructor(handle: OutboxHandle) {
    this.#handle = handle;
    this.#monitor = new OutboxMonitor(handle, () => this.#alarms);
    handle.measure(this.#monitor);
  }

  read(): OutboxReading {
    return { alarms: this.#monitor.alarms(this.#handle.now()) };
  }

  update(options: ObserveOptions<OutboxAlarmOptions>): void {
    checkNames(options, 'options', ['alarms'], 'ERR_WBP_OBSERVE');
    this.#alarms = alarmSettings(OUTBOX_ALARM_DEFAULTS, this.#alarms, options.alarms);
    this.#monitor.judge(this.#handle.now());
  }
}

function isInbox(_source: Intake | Inbox, { kind }: ObserveHandle): _source is Inbox {
  return kind === 'inbox';
}
