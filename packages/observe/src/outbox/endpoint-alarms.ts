import type { OutboxAlarmSettings } from '../alarms/alarm-options.ts';
import { ENDPOINT_ALARM_RULES, type EndpointAlarmRule, type EndpointReading } from '../alarms/alarm-rules.ts';
import { eventOf, helpOf, type Raised, UNWATCHED } from '../alarms/alarm.ts';
import type { OutboxAlarmEvent } from './outbox-events.ts';
import type { ActiveOutboxAlarm } from './sender.ts';

/** How many endpoints have the same alarm. After a failure of something that all need, more would be noise. */
const MAX_RAISED = 100;

/** The figures by which the alarms are judged. */
export interface EndpointReadings {
  /** Calls back for all endpoints that may have an alarm. */
  forEachReading(action: (endpoint: string, reading: EndpointReading) => void): void;
  /** Of an endpoint that has an alarm. */
  reading(endpoint: string): EndpointReading;
}

type Changed = (event: OutboxAlarmEvent) => void;

/** Raises and clears the alarms of single endpoints. The caller says when to judge. */
export class EndpointAlarms {
  readonly #raised = new Map<EndpointAlarmRule, Map<string, Raised>>(
    ENDPOINT_ALARM_RULES.map((rule) => [rule, new Map<string, Raised>()]),
  );

  /** Whether any alarm is raised. */
  get any(): boolean {
    for (const raised of this.#raised.values()) if (raised.size > 0) return true;
    return false;
  }

  /** Judges all alarms, and reports changes. `settings`: false ends all alarms. */
  judge(
    readings: EndpointReadings,
    settings: OutboxAlarmSettings | false,
    nowMs: number,
    changed: Changed,
  ): void {
    const changes: OutboxAlarmEvent[] = [];
    this.#clear(readings, settings, changes);
    if (settings !== false) {
      readings.forEachReading((endpoint, reading) => {
        this.#raise(endpoint, reading, settings, nowMs, changes);
      });
    }
    // At the end, because a listener may take a snapshot, which judges again.
    for (const change of changes) changed(change);
  }

  read(nowMs: number): ActiveOutboxAlarm[] {
    return [...this.#raised].flatMap(([{ code }, raised]) =>
      Array.from(raised, ([endpoint, { atMs, value, threshold, message }]) => {
        return { code, sinceMs: nowMs - atMs, value, threshold, message, help: helpOf(code), endpoint };
      }),
    );
  }

  #clear(
    readings: EndpointReadings,
    settings: OutboxAlarmSettings | false,
    changes: OutboxAlarmEvent[],
  ): void {
    for (const [rule, raised] of this.#raised) {
      const threshold = settings === false ? false : settings[rule.option];
      for (const [endpoint, alarm] of raised) {
        if (threshold === false) {
          raised.delete(endpoint);
          changes.push({ ...eventOf('alarm-cleared', rule, { ...alarm, message: UNWATCHED }), endpoint });
          continue;
        }
        const reading = readings.reading(endpoint);
        const value = rule.value(reading);
        Object.assign(alarm, { value, threshold, message: rule.message(value, reading) });
        if (value > threshold / 2) continue;
        raised.delete(endpoint);
        changes.push({ ...eventOf('alarm-cleared', rule, alarm), endpoint });
      }
    }
  }

  #raise(
    endpoint: string,
    reading: EndpointReading,
    settings: OutboxAlarmSettings,
    nowMs: number,
    changes: OutboxAlarmEvent[],
  ): void {
    for (const [rule, raised] of this.#raised) {
      const threshold = settings[rule.option];
      if (threshold === false || raised.size >= MAX_RAISED) continue;
      const value = rule.value(reading);
      if (value <= threshold || raised.has(endpoint) || rule.mayRaise?.(reading, settings) === false)
        continue;
      const alarm = { atMs: nowMs, value, threshold, message: rule.message(value, reading) };
      raised.set(endpoint, alarm);
      changes.push({ ...eventOf('alarm', rule, alarm), endpoint });
    }
  }
}
