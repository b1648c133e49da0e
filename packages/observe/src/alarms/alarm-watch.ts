import type { AlarmEvent } from '@webhook-backpressure/core';
import { eventOf, helpOf, type ActiveAlarm, type AlarmReading, type Raised, UNWATCHED } from './alarm.ts';
import { ALARM_RULES, type AlarmRule, type AnyAlarmSettings, type RuleReading } from './alarm-rules.ts';
import { Growth } from './growth.ts';

interface Watched extends Raised {
  /** Since when the value has been low enough to clear the alarm. */
  calmSinceMs: number | undefined;
}

/** Raises and clears the alarms. It changes nothing by itself: the caller says when to judge. */
export class AlarmWatch {
  readonly #raised = new Map<AlarmRule, Watched>();
  /** The number of the latest judgement. */
  #judgement = 0;
  #growth: Growth | undefined;
  #growingMs: number | false = false;

  /** Whether an alarm is raised that can end without an event. */
  get isTimed(): boolean {
    for (const { isUntimed = false } of this.#raised.keys()) if (!isUntimed) return true;
    return false;
  }

  noteDepth(depth: number, nowMs: number): void {
    this.#growth?.note(depth, nowMs);
  }

  /** Judges all alarms, and reports changes. `settings`: false ends all alarms. */
  judge(
    reading: AlarmReading,
    settings: AnyAlarmSettings | false,
    nowMs: number,
    changed: (event: AlarmEvent) => void,
  ): void {
    const judgement = (this.#judgement += 1);
    const current = settings === false ? {} : settings;
    const full = this.#withGrowth(reading, current.growingMs ?? false, nowMs);
    for (const rule of ALARM_RULES) {
      const change = this.#judgeRule(rule, full, current, nowMs);
      if (change !== undefined) changed(change);
      // A listener may have changed the settings or closed the source. Then all have been judged by newer facts.
      if (this.#judgement !== judgement) return;
    }
  }

  read(nowMs: number): ActiveAlarm[] {
    return Array.from(this.#raised, ([{ code }, { atMs, value, threshold, message }]) => ({
      code,
      sinceMs: nowMs - atMs,
      value,
      threshold,
      message,
      help: helpOf(code),
    }));
  }

  #withGrowth(reading: AlarmReading, growingMs: number | false, nowMs: number): RuleReading {
    if (growingMs !== this.#growingMs) {
      this.#growingMs = growingMs;
      this.#growth = growingMs === false ? undefined : new Growth(growingMs, reading.depth, nowMs);
    }
    const growth = this.#growth;
    growth?.note(reading.depth, nowMs);
    return { ...reading, grownMs: growth?.grownMs(nowMs) ?? 0, grownFrom: growth?.from ?? 0 };
  }

  #judgeRule(
    rule: AlarmRule,
    reading: RuleReading,
    settings: AnyAlarmSettings,
    nowMs: number,
  ): AlarmEvent | undefined {
    const raised = this.#raised.get(rule);
    const threshold = settings[rule.option] ?? false;
    if (threshold === false) {
      if (raised === undefined) return undefined;
      this.#raised.delete(rule);
      // The last message would say that the condition lasts.
      return eventOf('alarm-cleared', rule, { ...raised, message: UNWATCHED });
    }
    const value = rule.value(reading);
    if (raised === undefined) {
      const isOver = rule.isExceeded === true ? value > threshold : value >= threshold;
      if (!isOver || rule.mayRaise?.(reading, settings) === false) return undefined;
      const message = rule.message(value, reading);
      const alarm: Watched = { atMs: nowMs, value, threshold, message, calmSinceMs: undefined };
      this.#raised.set(rule, alarm);
      return eventOf('alarm', rule, alarm);
    }
    Object.assign(raised, { value, threshold, message: rule.message(value, reading) });
    const { zeroForMs } = rule;
    if (value > (zeroForMs === undefined ? threshold / 2 : 0)) {
      raised.calmSinceMs = undefined;
      return undefined;
    }
    raised.calmSinceMs ??= nowMs;
    if (nowMs - raised.calmSinceMs < (zeroForMs ?? 0)) return undefined;
    this.#raised.delete(rule);
    return eventOf('alarm-cleared', rule, raised);
  }
}
