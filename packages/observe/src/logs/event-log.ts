import { callObserver } from '@webhook-backpressure/inbox/store';
import { Timer, type Clock, monotonic } from '@webhook-backpressure/base';
import {
  LINES,
  OUTBOX_LINES,
  OUTBOX_SUMS,
  SUMS,
  type LineRule,
  type LogLevel,
  type SumRule,
} from './lines.ts';
import type { SourceKind } from './source-kind.ts';

/** The data of a line: plain values that every logger can write as JSON. `event` is the type of the event. */
export type LogFields = Readonly<Record<string, unknown>> & { readonly event: string };

/** The part of a logger that `logEvents` uses. pino, bunyan, winston and `console` have it. */
export interface EventLogger {
  /** Logs what an operator may want to look up. */
  info(first: LogFields | string, second: LogFields | string): unknown;
  /** Logs what may need a change. */
  warn(first: LogFields | string, second: LogFields | string): unknown;
  /** Logs what needs attention now. */
  error(first: LogFields | string, second: LogFields | string): unknown;
}

/** What is logged, where and how. */
export interface LogSettings {
  readonly logger: EventLogger;
  /** The name of the field that names the source, and what messages call it. */
  readonly kind: SourceKind;
  readonly isDryRun: boolean;
  readonly name: string | undefined;
  readonly isMessageFirst: boolean;
  readonly keys: number;
  readonly hasErrors: boolean;
  readonly clock: Clock;
}

/** How often sums are logged, and how often a line of the same kind at most. */
const PERIOD_MS = 1000;
/** The fields with text that lines have. Others may be private: ids, bodies, and messages of errors. */
const TEXTS: ReadonlySet<string> = new Set([
  'key',
  'endpoint',
  'sender',
  'code',
  'help',
  'call',
  'reason',
  'resource',
  'options',
]);
/** What follows from the other lines, or from the order of the lines. */
const OMITTED: ReadonlySet<string> = new Set(['at', 'sequence']);

/** Keys beyond this many are only counted: they come from requests. */
const MAX_KEYS = 1000;
const MAX_ERRORS = 3;
/** Keys and errors can come from requests, and a line must stay readable. */
const KEY_CHARACTERS = 64;
const ERROR_CHARACTERS = 300;

/** An event of any source. */
type LoggedEvent = Readonly<Record<string, unknown>> & { readonly type: string };

/** An event that was not logged, because one of its kind had been logged just before. */
interface Held {
  readonly event: LoggedEvent;
  readonly repeated: number;
}

/**
 * Logs the events of an intake, an inbox or a sender. Its volume is bounded, whatever is sent: of each kind of event, one line is
 * logged immediately, and what follows within a second becomes one line, or a count in one line.
 */
export class EventLog {
  readonly #settings: LogSettings;
  readonly #lines: ReadonlyMap<string, LineRule>;
  readonly #sumRules: ReadonlyMap<string, SumRule>;
  readonly #now: () => number;
  readonly #alarm: Timer;
  readonly #sums = new Map<string, EventSum>();
  /** By kind of line. A Map keeps the order in which they were last set. */
  readonly #held = new Map<string, Held>();
  readonly #loggedAtMs = new Map<string, number>();
  #sinceMs = 0;

  constructor(settings: LogSettings) {
    this.#settings = settings;
    const isSender = settings.kind === 'sender';
    this.#lines = new Map(Object.entries(isSender ? OUTBOX_LINES : LINES));
    this.#sumRules = new Map(Object.entries(isSender ? OUTBOX_SUMS : SUMS));
    this.#now = monotonic(settings.clock);
    this.#alarm = new Timer(settings.clock, () => {
      this.flush();
    });
  }

  add(given: { readonly type: string }): void {
    const event = given as LoggedEvent;
    const sumRule = this.#sumRules.get(event.type);
    const line = this.#lines.get(event.type);
    if (sumRule !== undefined) this.#count(sumRule, event);
    else if (line !== undefined) this.#logOrHold(line, event);
  }

  /** Logs the sums and the lines that were held. */
  flush(): void {
    this.#alarm.clear();
    const now = this.#now();
    const seconds = Math.round((now - this.#sinceMs) / 100) / 10;
    for (const [type, sum] of this.#sums) {
      const fields = { event: type, seconds, ...sum.fields(this.#settings) };
      this.#write(sum.rule.level, fields, sum.message(seconds, this.#settings.isDryRun));
    }
    this.#sums.clear();
    const held = [...this.#held];
    this.#held.clear();
    for (const [kind, { event, repeated }] of held) this.#log(kind, event, now, repeated);
  }

  #count(rule: SumRule, event: LoggedEvent): void {
    let sum = this.#sums.get(event.type);
    if (sum === undefined) this.#sums.set(event.type, (sum = new EventSum(rule)));
    sum.add(event);
    this.#await(this.#now());
  }

  #logOrHold({ by }: LineRule, event: LoggedEvent): void {
    const { type } = event;
    // It is the last event: what was held comes before it.
    if (type === 'closed') this.flush();
    const now = this.#now();
    const kind = by === undefined ? type : `${type} ${String(event[by])}`;
    const isRecent = now - (this.#loggedAtMs.get(kind) ?? -Infinity) < PERIOD_MS;
    if (!isRecent && !this.#holdsLineAbout(this.#subjectOf(type))) {
      this.#log(kind, event, now, 0);
      return;
    }
    const { repeated = 0 } = this.#held.get(kind) ?? {};
    this.#held.delete(kind);
    this.#held.set(kind, { event, repeated: repeated + 1 });
    this.#await(now);
  }

  /** Whether an earlier line about the same has not been logged yet. */
  #holdsLineAbout(subject: string): boolean {
    for (const { event } of this.#held.values()) if (this.#subjectOf(event.type) === subject) return true;
    return false;
  }

  #subjectOf(type: string): string {
    return this.#lines.get(type)?.ends ?? type;
  }

  /** @param repeated - how many events of this kind the line represents, if it was held. */
  #log(kind: string, event: LoggedEvent, now: number, repeated: number): void {
    this.#loggedAtMs.set(kind, now);
    const { level, message } = this.#lines.get(event.type) as LineRule;
    const fields: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(event)) {
      if (!isShown(name, value)) continue;
      const isName = typeof value === 'string' && (name === 'key' || name === 'endpoint');
      fields[name] = isName ? shortened(value, KEY_CHARACTERS) : value;
    }
    const { error } = event;
    if (this.#settings.hasErrors && typeof error === 'string')
      fields['error'] = shortened(error, ERROR_CHARACTERS);
    if (repeated > 1) fields['repeated'] = repeated;
    const text = typeof message === 'string' ? message : message(event as never, this.#settings.kind);
    this.#write(level, { event: event.type, ...fields }, text);
  }

  #await(now: number): void {
    if (!this.#alarm.isSet) this.#sinceMs = now;
    this.#alarm.set(now, PERIOD_MS);
  }

  #write(level: LogLevel, { event, ...rest }: LogFields, message: string): void {
    const { logger, kind, name, isDryRun, isMessageFirst } = this.#settings;
    const fields: LogFields = {
      event,
      ...(name === undefined ? {} : { [kind]: name }),
      ...(isDryRun ? { dryRun: true } : {}),
      ...rest,
    };
    // A logger that fails must not keep the other lines from being logged.
    callObserver(() => (isMessageFirst ? logger[level](message, fields) : logger[level](fields, message)));
  }
}

/** Adds up the events of one type, in bounded memory. */
class EventSum {
  readonly rule: SumRule;
  readonly #keys = new Map<string, number>();
  readonly #errors = new Set<string>();
  readonly #counted: readonly (readonly [field: string, counts: Map<string, number>])[];
  #count = 0;
  #lossRisk = 0;
  #largest = 0;

  constructor(rule: SumRule) {
    this.rule = rule;
    this.#counted = (rule.counted ?? []).map((field) => [field, new Map<string, number>()]);
  }

  add(event: LoggedEvent): void {
    this.#count += 1;
    for (const [field, counts] of this.#counted) {
      // An attempt without an answer has no status.
      addOne(counts, String((event[field] as string | number | undefined) ?? 'none'));
    }
    const { largest } = this.rule;
    if (largest !== undefined) this.#largest = Math.max(this.#largest, Number(event[largest[0]]));
    if (event['lossRisk'] === true) this.#lossRisk += 1;
    const key = String(event['key'] ?? event['endpoint']);
    if (this.#keys.size < MAX_KEYS || this.#keys.has(key)) addOne(this.#keys, key);
    const { error } = event;
    if (typeof error === 'string' && this.#errors.size < MAX_ERRORS)
      this.#errors.add(shortened(error, ERROR_CHARACTERS));
  }

  fields({ keys, hasErrors }: LogSettings): Readonly<Record<string, unknown>> {
    const fields: Record<string, unknown> = { count: this.#count };
    for (const [field, counts] of this.#counted) fields[field] = Object.fromEntries(counts);
    const { largest } = this.rule;
    if (largest !== undefined) fields[largest[1]] = Math.round(this.#largest);
    if (this.#lossRisk > 0) fields['lossRisk'] = this.#lossRisk;
    if (hasErrors && this.#errors.size > 0) fields['errors'] = [...this.#errors];
    if (keys === 0) return fields;
    const top = byCount(this.#keys).slice(0, keys);
    fields['keys'] = top.map(([key, count]) => ({ key: shortened(key, KEY_CHARACTERS), count }));
    fields['otherKeys'] = top.reduce((rest, [, count]) => rest - count, this.#count);
    return fields;
  }

  message(seconds: number, isDryRun: boolean): string {
    const { text, dryRunText = text } = this.rule;
    const [, counts = []] = this.#counted[0] ?? [];
    const details = byCount(counts).map(([value, count]) => `${String(count)} ${value}`);
    const among = details.length === 0 ? '' : ` (${details.join(', ')})`;
    return `${isDryRun ? dryRunText : text} in ${String(seconds)} s: ${String(this.#count)}${among}.`;
  }
}

/** Numbers and booleans are never private. */
function isShown(name: string, value: unknown): boolean {
  if (value === undefined || OMITTED.has(name)) return false;
  return TEXTS.has(name) || typeof value === 'number' || typeof value === 'boolean';
}

function addOne(counts: Map<string, number>, value: string): void {
  counts.set(value, (counts.get(value) ?? 0) + 1);
}

function byCount(counts: Iterable<readonly [string, number]>): (readonly [string, number])[] {
  return [...counts].sort(([, a], [, b]) => b - a);
}

function shortened(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}…`;
}
