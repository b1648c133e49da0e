import { callObserver } from '@webhook-backpressure/inbox/store';
import { Alarm, monotonic } from '@webhook-backpressure/base';
import type { EventLogger, LogFields, LogLevel, LogSettings } from './event-logger.ts';
import type { SourceKind } from './event-source.ts';
import { EventSum, shownError } from './event-sum.ts';
import { shownKey } from './key-counts.ts';
import { rulesOf, type AnyLine, type LogRules } from './log-rules.ts';
import type { SumRule } from './sums.ts';

/** The fields whose values are names that users choose. */
const NAMES: ReadonlySet<string> = new Set(['key', 'endpoint']);

/** How often sums are logged, and how often a line of the same kind at most. */
const PERIOD_MS = 1000;

/** An event of any source. */
interface LoggedEvent {
  readonly type: string;
}

/** An event that was not logged, because one of its kind had been logged just before. */
interface Held {
  event: LoggedEvent;
  repeated: number;
}

/**
 * Logs the events of an intake, an inbox or a sender. Its volume is bounded, whatever is sent: of each kind of event, one line is
 * logged immediately, and what follows within a second becomes one line, or a count in one line.
 */
export class EventLog {
  readonly #logger: EventLogger;
  readonly #settings: LogSettings;
  readonly #kind: SourceKind;
  readonly #rules: LogRules;
  readonly #isDryRun: boolean;
  readonly #now: () => number;
  readonly #alarm: Alarm;
  readonly #sums = new Map<string, { readonly rule: SumRule; readonly sum: EventSum }>();
  /** By kind of line. A Map keeps the order in which they were last set. */
  readonly #held = new Map<string, Held>();
  readonly #loggedAtMs = new Map<string, number>();
  #sinceMs = 0;

  constructor(logger: EventLogger, kind: SourceKind, isDryRun: boolean, settings: LogSettings) {
    this.#logger = logger;
    this.#settings = settings;
    this.#kind = kind;
    this.#rules = rulesOf(kind);
    this.#isDryRun = isDryRun;
    this.#now = monotonic(settings.clock);
    this.#alarm = new Alarm(settings.clock, () => {
      this.flush();
    });
  }

  add(event: LoggedEvent): void {
    const { type } = event;
    const { sums, lines } = this.#rules;
    const rule = sums.get(type);
    const line = lines.get(type);
    if (rule !== undefined) this.#count(rule, event);
    else if (line !== undefined) this.#logOrHold(line, event);
  }

  /** Logs the sums and the lines that were held. */
  flush(): void {
    this.#alarm.clear();
    const now = this.#now();
    const seconds = Math.round((now - this.#sinceMs) / 100) / 10;
    for (const [type, { rule, sum }] of this.#sums) {
      const fields = { event: type, seconds, ...sum.fields(this.#settings) };
      this.#write(rule.level, fields, sum.message(seconds, this.#isDryRun));
    }
    this.#sums.clear();
    const held = [...this.#held];
    this.#held.clear();
    for (const [kind, { event, repeated }] of held) this.#log(kind, event, now, repeated);
  }

  #count(rule: SumRule, event: LoggedEvent): void {
    let counted = this.#sums.get(event.type);
    if (counted === undefined) {
      counted = { rule, sum: new EventSum(rule) };
      this.#sums.set(event.type, counted);
    }
    counted.sum.add(event as unknown as Readonly<Record<string, unknown>>);
    this.#await(this.#now());
  }

  #logOrHold(line: AnyLine, event: LoggedEvent): void {
    const { type } = event;
    // It is the last event: what was held comes before it.
    if (type === 'closed') this.flush();
    const now = this.#now();
    const kind = `${type} ${line.variant?.(event as never) ?? ''}`;
    const isRecent = now - (this.#loggedAtMs.get(kind) ?? -Infinity) < PERIOD_MS;
    if (!isRecent && !this.#holdsLineAbout(this.#rules.subjectOf(type))) {
      this.#log(kind, event, now, 0);
      return;
    }
    const held = this.#held.get(kind);
    this.#held.delete(kind);
    this.#held.set(kind, { event, repeated: (held?.repeated ?? 0) + 1 });
    this.#await(now);
  }

  /** Whether an earlier line about the same has not been logged yet. */
  #holdsLineAbout(subject: string): boolean {
    for (const { event } of this.#held.values()) {
      if (this.#rules.subjectOf(event.type) === subject) return true;
    }
    return false;
  }

  /** @param repeated - how many events of this kind the line represents, if it was held. */
  #log(kind: string, event: LoggedEvent, now: number, repeated: number): void {
    this.#loggedAtMs.set(kind, now);
    const line = this.#rules.lines.get(event.type) as AnyLine;
    const values = event as unknown as Readonly<Record<string, unknown>>;
    const fields: [string, unknown][] = line.fields
      .filter((name) => values[name] !== undefined)
      .map((name) => [name, NAMES.has(name) ? keyOf(values[name]) : values[name]]);
    const { error } = values;
    if (this.#settings.hasErrors && typeof error === 'string') fields.push(['error', shownError(error)]);
    const again = repeated > 1 ? { repeated } : {};
    const all: LogFields = { event: event.type, ...Object.fromEntries(fields), ...again };
    this.#write(line.level, all, line.message(event as never, this.#kind));
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

function keyOf(key: unknown): unknown {
  return typeof key === 'string' ? shownKey(key) : key;
}
