import { callObserver } from '../inbox/events/call-observer.ts';
import { Alarm } from '../time/alarm.ts';
import { monotonic } from '../time/clock.ts';
import type { EventLogger, LogFields, LogLevel, LogSettings } from './event-logger.ts';
import type { SourceKind } from './event-source.ts';
import { EventSum, shownError } from './event-sum.ts';
import { shownKey } from './key-counts.ts';
import { LINES, subjectOf, type Line, type LineType, type LoggedEvent } from './lines.ts';
import { SUMS, type SummedType } from './sums.ts';

/** How often sums are logged, and how often a line of the same kind at most. */
const PERIOD_MS = 1000;

/** An event that was not logged, because one of its kind had been logged just before. */
interface Held {
  event: LoggedEvent;
  repeated: number;
}

/**
 * Logs the events of an intake or inbox. Its volume is bounded, whatever is sent: of each kind of event, one line is
 * logged immediately, and what follows within a second becomes one line, or a count in one line.
 */
export class EventLog {
  readonly #logger: EventLogger;
  readonly #settings: LogSettings;
  readonly #kind: SourceKind;
  readonly #isDryRun: boolean;
  readonly #now: () => number;
  readonly #alarm: Alarm;
  readonly #sums = new Map<SummedType, EventSum>();
  /** By kind of line. A Map keeps the order in which they were last set. */
  readonly #held = new Map<string, Held>();
  readonly #loggedAtMs = new Map<string, number>();
  #sinceMs = 0;

  constructor(logger: EventLogger, kind: SourceKind, isDryRun: boolean, settings: LogSettings) {
    this.#logger = logger;
    this.#settings = settings;
    this.#kind = kind;
    this.#isDryRun = isDryRun;
    this.#now = monotonic(settings.clock);
    this.#alarm = new Alarm(settings.clock, () => {
      this.flush();
    });
  }

  add(event: LoggedEvent): void {
    const { type } = event;
    if (Object.hasOwn(SUMS, type)) this.#count(type as SummedType, event);
    else if (Object.hasOwn(LINES, type)) this.#logOrHold(type as LineType, event);
  }

  /** Logs the sums and the lines that were held. */
  flush(): void {
    this.#alarm.clear();
    const now = this.#now();
    const seconds = Math.round((now - this.#sinceMs) / 100) / 10;
    for (const [type, sum] of this.#sums) {
      const fields = { event: type, seconds, ...sum.fields(this.#settings) };
      this.#write(SUMS[type].level, fields, sum.message(seconds, this.#isDryRun));
    }
    this.#sums.clear();
    const held = [...this.#held];
    this.#held.clear();
    for (const [kind, { event, repeated }] of held) this.#log(kind, event, now, repeated);
  }

  #count(type: SummedType, event: LoggedEvent): void {
    let sum = this.#sums.get(type);
    if (sum === undefined) {
      sum = new EventSum(SUMS[type]);
      this.#sums.set(type, sum);
    }
    sum.add(event as Readonly<Record<string, unknown>>);
    this.#await(this.#now());
  }

  #logOrHold(type: LineType, event: LoggedEvent): void {
    // It is the last event: what was held comes before it.
    if (type === 'closed') this.flush();
    const now = this.#now();
    const kind = `${type} ${lineOf(type).variant?.(event) ?? ''}`;
    const isRecent = now - (this.#loggedAtMs.get(kind) ?? -Infinity) < PERIOD_MS;
    if (!isRecent && !this.#holdsLineAbout(subjectOf(type))) {
      this.#log(kind, event, now, 0);
      return;
    }
    const held = this.#held.get(kind);
    this.#held.delete(kind);
    this.#held.set(kind, { event, repeated: (held?.repeated ?? 0) + 1 });
    this.#await(now);
  }

  /** Whether an earlier line about the same has not been logged yet. */
  #holdsLineAbout(subject: LineType): boolean {
    for (const { event } of this.#held.values()) {
      if (subjectOf(event.type as LineType) === subject) return true;
    }
    return false;
  }

  /** @param repeated - how many events of this kind the line represents, if it was held. */
  #log(kind: string, event: LoggedEvent, now: number, repeated: number): void {
    this.#loggedAtMs.set(kind, now);
    const line = lineOf(event.type as LineType);
    const values = event as Readonly<Record<string, unknown>>;
    const fields: [string, unknown][] = line.fields
      .filter((name) => values[name] !== undefined)
      .map((name) => [name, name === 'key' ? keyOf(values[name]) : values[name]]);
    const { error } = values;
    if (this.#settings.hasErrors && typeof error === 'string') fields.push(['error', shownError(error)]);
    const again = repeated > 1 ? { repeated } : {};
    const all: LogFields = { event: event.type, ...Object.fromEntries(fields), ...again };
    this.#write(line.level, all, line.message(event, this.#kind));
  }

  #await(now: number): void {
    if (!this.#alarm.isSet) this.#sinceMs = now;
    this.#alarm.set(now, PERIOD_MS);
  }

  #write(level: LogLevel, fields: LogFields, message: string): void {
    const { name, isMessageFirst } = this.#settings;
    const { event, ...rest } = fields;
    const all: LogFields = {
      event,
      ...(name === undefined ? {} : { [this.#kind]: name }),
      ...(this.#isDryRun ? { dryRun: true } : {}),
      ...rest,
    };
    // A logger that fails must not keep the other lines from being logged.
    callObserver(() =>
      isMessageFirst ? this.#logger[level](message, all) : this.#logger[level](all, message),
    );
  }
}

/** The rule for events of this type, whichever that is. */
function lineOf(type: LineType): Line<LoggedEvent> & { fields: readonly string[] } {
  return LINES[type] as unknown as Line<LoggedEvent> & { fields: readonly string[] };
}

function keyOf(key: unknown): unknown {
  return typeof key === 'string' ? shownKey(key) : key;
}
