import { Alarm as Timer, type Clock } from '@webhook-backpressure/base';
import type { Windows } from '../windows/windows.ts';
import { WindowMeter } from '../windows/window-meter.ts';
import type { ActiveAlarm, AlarmEvent, AlarmReading } from './alarm.ts';
import type { AlarmSettings } from './alarm-options.ts';
import { AlarmWatch } from './alarm-watch.ts';

/** The timer waits at least this long. */
const LEAST_MS = 1;

/** What the monitor reads elsewhere. */
type Metered = 'arrivals' | 'refused' | 'lossRisk' | 'dead' | 'depth' | 'disabled';

/** An intake or inbox, as its monitor sees it. */
export interface Monitored {
  readonly clock: Clock;
  readonly now: () => number;
  readonly listeners: { readonly any: boolean };
  readonly settings: () => AlarmSettings | false;
  /** How many deliveries are queued; in an inbox, stored and unfinished. */
  readonly depth: () => number;
  /** Whether an alarm may become due without an event or a reading. */
  readonly isWaiting: () => boolean;
  readonly read: (nowMs: number) => Omit<AlarmReading, Metered>;
  readonly emit: (nowMs: number, event: AlarmEvent) => void;
}

/**
 * Measures the windows of an intake or inbox, and judges its alarms: at each reading and, while there are listeners, at
 * the end of each slice. Never while a delivery is being decided: a listener may admit or withdraw others.
 *
 * The timer runs until the end of a slice in which a delivery was refused or failed, and while an alarm is raised that time
 * can end. It ends by itself, and keeps no process alive.
 */
export class Monitor {
  readonly #of: Monitored;
  readonly #meter: WindowMeter;
  readonly #watch = new AlarmWatch();
  readonly #timer: Timer;
  #isOn = true;
  #hasEnded = false;

  constructor(of: Monitored, nowMs: number) {
    this.#of = of;
    this.#meter = new WindowMeter(nowMs);
    this.#timer = new Timer(of.clock, this.#tick);
  }

  /** A delivery arrived. */
  arrived(key: string, sender: string | undefined, nowMs: number): void {
    this.#meter.arrived(key, sender, nowMs);
    this.moved(nowMs);
  }

  /** A delivery was refused on arrival. */
  refused(key: string, sender: string | undefined, retryAfterSeconds: number, nowMs: number): void {
    this.#meter.refused(key, sender, retryAfterSeconds, nowMs);
    this.wake(nowMs);
  }

  /** A delivery started, and is no longer counted in the depth. */
  started(key: string, sender: string | undefined, waitedMs: number, nowMs: number): void {
    this.#meter.started(key, sender, waitedMs, nowMs);
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
    this.#meter.ended(key, sender, isSuccess, tookMs, nowMs);
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
    this.#meter.lost(what, nowMs);
    this.wake(nowMs);
  }

  /** The windows and the raised alarms, which are judged first. */
  read(nowMs: number): { windows: Windows; alarms: readonly ActiveAlarm[] } {
    this.judge(nowMs);
    return { windows: this.#meter.read(nowMs), alarms: this.#watch.read(nowMs) };
  }

  /** Judges the alarms, after a change of the options for example. */
  judge(nowMs: number): void {
    this.#meter.advance(nowMs);
    this.#judge(nowMs);
    if (this.#watch.isTimed || this.#of.isWaiting()) this.wake(nowMs);
  }

  /** Makes sure that the alarms are judged at the end of the slice, if there is a listener. */
  wake(nowMs: number): void {
    if (!this.#of.listeners.any || !this.#isOn) return;
    // A rest of 1e-12 ms is lost when it is added to the time: the timer would be due again at the same time, forever.
    this.#timer.set(nowMs, Math.max(LEAST_MS, this.#meter.leftMs(nowMs)));
  }

  /** Ends all alarms and the timer. The windows are still measured. */
  end(nowMs: number): void {
    this.#hasEnded = true;
    this.#judge(nowMs);
  }

  readonly #tick = (): void => {
    this.judge(this.#of.now());
  };

  #judge(nowMs: number): void {
    const { settings, depth, read, emit } = this.#of;
    const meter = this.#meter;
    const reading = {
      ...read(nowMs),
      depth: depth(),
      disabled: 0,
      arrivals: meter.countOfAll('arrivals'),
      refused: meter.countOfAll('refused'),
      lossRisk: meter.countOfAll('lossRisk'),
      dead: meter.countOfAll('dead'),
    };
    const current = this.#hasEnded ? false : settings();
    this.#isOn = current !== false;
    if (!this.#isOn) this.#timer.clear();
    this.#watch.judge(reading, current, nowMs, (event) => {
      emit(nowMs, event);
    });
  }
}
