import { Timer, type Clock } from '@webhook-backpressure/base';
import type { AlarmEvent } from '@webhook-backpressure/core';
import { BusiestNames } from '../windows/busiest-names.ts';
import { SliceClock } from '../windows/slice-clock.ts';
import {
  COUNTS,
  HISTOGRAMS,
  SLICE_MS,
  SLICES,
  SlicedFigures,
  type WindowName,
} from '../windows/sliced-figures.ts';
import type { Window, Windows } from '../windows/windows.ts';
import type { ActiveAlarm, AlarmReading } from './alarm.ts';
import type { AlarmSettings } from './alarm-options.ts';
import { AlarmWatch } from './alarm-watch.ts';

/** The timer waits at least this long. */
const MIN_MS = 1;

/** What the monitor reads elsewhere. */
type Metered = 'arrivals' | 'refused' | 'lossRisk' | 'dead' | 'depth' | 'disabled';

/** An intake or inbox, as its monitor sees it. */
export interface Monitored {
  readonly clock: Clock;
  readonly now: () => number;
  readonly settings: () => AlarmSettings | false;
  /** How many deliveries are queued; in an inbox, stored and unfinished. */
  readonly depth: () => number;
  /** Whether an alarm may become due without an event or a reading. */
  readonly isWaiting: () => boolean;
  readonly read: (nowMs: number) => Omit<AlarmReading, Metered>;
  readonly emit: (nowMs: number, event: AlarmEvent) => void;
}

/**
 * Measures the windows of an intake or inbox, and judges its alarms: at each reading and at
 * the end of each slice. Never while a delivery is being decided: a listener may admit or withdraw others. To measure an
 * event is O(1).
 *
 * The timer runs until the end of a slice in which a delivery was refused or failed, and while an alarm is raised that time
 * can end. It ends by itself, and keeps no process alive.
 */
export class Monitor {
  readonly #of: Monitored;
  readonly #all = new SlicedFigures();
  readonly #keys = new BusiestNames();
  readonly #senders = new BusiestNames();
  readonly #slices: SliceClock;
  readonly #startedMs: number;
  readonly #watch = new AlarmWatch();
  readonly #timer: Timer;
  #isOn = true;
  #hasEnded = false;

  constructor(of: Monitored, nowMs: number) {
    this.#of = of;
    this.#startedMs = nowMs;
    this.#slices = new SliceClock([this.#all, this.#keys, this.#senders], nowMs);
    this.#timer = new Timer(of.clock, () => {
      this.judge(of.now());
    });
  }

  /** A delivery arrived. */
  arrived(key: string, sender: string | undefined, nowMs: number): void {
    this.#slices.advance(nowMs);
    this.#all.count(COUNTS.arrivals);
    this.#keys.arrived(key).count(COUNTS.arrivals);
    if (sender !== undefined) this.#senders.arrived(sender).count(COUNTS.arrivals);
    this.moved(nowMs);
  }

  /** A delivery was refused on arrival. */
  refused(key: string, sender: string | undefined, retryAfterSeconds: number, nowMs: number): void {
    for (const figures of this.#figuresOf(key, sender, nowMs)) {
      figures?.count(COUNTS.refused);
      figures?.measure(HISTOGRAMS.retryAfterSeconds, retryAfterSeconds);
    }
    this.wake(nowMs);
  }

  /** A delivery started, and is no longer counted in the depth. */
  started(key: string, sender: string | undefined, waitedMs: number, nowMs: number): void {
    for (const figures of this.#figuresOf(key, sender, nowMs)) figures?.measure(HISTOGRAMS.waitMs, waitedMs);
    this.moved(nowMs);
  }

  /**
   * The handling of a delivery ended.
   *
   * @param tookMs - undefined if the handler was not called.
   */
  ended(
    key: string,
    sender: string | undefined,
    isSuccess: boolean,
    tookMs: number | undefined,
    nowMs: number,
  ): void {
    for (const figures of this.#figuresOf(key, sender, nowMs)) {
      figures?.count(isSuccess ? COUNTS.completed : COUNTS.failed);
      if (tookMs !== undefined) figures?.measure(HISTOGRAMS.handlingMs, tookMs);
    }
    // To a sender that counts failures, it is the same as a refusal.
    if (!isSuccess) this.wake(nowMs);
  }

  /** The depth has changed otherwise. */
  moved(nowMs: number): void {
    this.#watch.noteDepth(this.#of.depth(), nowMs);
    if (this.#of.isWaiting()) this.wake(nowMs);
  }

  /** A delivery of a sender that never retries was refused, or a delivery became a dead letter. */
  lost(what: 'lossRisk' | 'dead', nowMs: number): void {
    this.#slices.advance(nowMs);
    this.#all.count(COUNTS[what]);
    this.wake(nowMs);
  }

  /** The windows and the raised alarms, which are judged first. */
  read(nowMs: number): { windows: Windows; alarms: readonly ActiveAlarm[] } {
    this.judge(nowMs);
    const windows = {
      lastSlice: this.#all.readBefore(this.#slices.slice),
      oneMinute: this.#windowOf('oneMinute', nowMs),
      fiveMinutes: this.#windowOf('fiveMinutes', nowMs),
    };
    return { windows, alarms: this.#watch.read(nowMs) };
  }

  /** Judges the alarms, after a change of the options for example. */
  judge(nowMs: number): void {
    this.#slices.advance(nowMs);
    this.#judge(nowMs);
    if (this.#watch.isTimed || this.#of.isWaiting()) this.wake(nowMs);
  }

  /** Makes sure that the alarms are judged at the end of the slice. */
  wake(nowMs: number): void {
    if (!this.#isOn) return;
    // A rest of 1e-12 ms is lost when it is added to the time: the timer would be due again at the same time, forever.
    this.#timer.set(nowMs, Math.max(MIN_MS, this.#slices.leftMs(nowMs)));
  }

  /** Ends all alarms and the timer. The windows are still measured. */
  end(nowMs: number): void {
    this.#hasEnded = true;
    this.#judge(nowMs);
  }

  #judge(nowMs: number): void {
    const { settings, depth, read, emit } = this.#of;
    const countOf = (what: keyof typeof COUNTS): number => this.#all.countIn('fiveMinutes', COUNTS[what]);
    const reading = {
      ...read(nowMs),
      depth: depth(),
      disabled: 0,
      arrivals: countOf('arrivals'),
      refused: countOf('refused'),
      lossRisk: countOf('lossRisk'),
      dead: countOf('dead'),
    };
    const current = this.#hasEnded ? false : settings();
    this.#isOn = current !== false;
    if (!this.#isOn) this.#timer.clear();
    this.#watch.judge(reading, current, nowMs, (event) => {
      emit(nowMs, event);
    });
  }

  /** The figures that an event of a delivery belongs to. A key and a sender have none if they are not among the busiest. */
  #figuresOf(key: string, sender: string | undefined, nowMs: number): readonly (SlicedFigures | undefined)[] {
    this.#slices.advance(nowMs);
    const ofSender = sender === undefined ? undefined : this.#senders.find(sender);
    return [this.#all, this.#keys.find(key), ofSender];
  }

  #windowOf(window: WindowName, nowMs: number): Window {
    const coveredMs = (SLICES[window] - 1) * SLICE_MS + this.#slices.ageMs(nowMs);
    return {
      seconds: Math.min(coveredMs, nowMs - this.#startedMs) / 1000,
      all: this.#all.read(window),
      keys: this.#keys.read(window),
      senders: this.#senders.read(window),
    };
  }
}
