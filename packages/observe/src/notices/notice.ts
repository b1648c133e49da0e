import type { AlarmEvent } from '@webhook-backpressure/core';
import type { SourceKind } from '../logs/source-kind.ts';

/** An alarm in a notice. */
export interface NoticeAlarm {
  /** The stable code. */
  readonly code: string;
  /** Whether it is raised now, or has been cleared. */
  readonly state: 'raised' | 'cleared';
  /** What was measured last, as a sentence. */
  readonly message: string;
  /** The address of the page that says what to do. */
  readonly help: string;
  /** How often it was raised or cleared since the last notice. */
  readonly changes: number;
}

/** Dead letters of one sender; of a sender of webhooks, of one endpoint. */
export interface NoticeCount {
  /** The name of the sender, or the id of the endpoint, up to 64 characters; null for unknown senders. */
  readonly name: string | null;
  /** How many. */
  readonly count: number;
}

/** What has happened since the last notice. Plain data. */
export interface Notice {
  /** All of it as text, one line for each fact. */
  readonly text: string;
  /** What the source is. */
  readonly kind: SourceKind;
  /** The option `name`; null without it. */
  readonly name: string | null;
  /** Alarms that were raised or cleared. */
  readonly alarms: readonly NoticeAlarm[];
  /** New dead letters. */
  readonly deadLetters: {
    /** How many. */
    readonly count: number;
    /** The five names with the most of them. */
    readonly most: readonly NoticeCount[];
    /** With the option `errors`, the first three different errors. */
    readonly errors: readonly string[];
  };
}

/** An event that a notice can be about. */
export interface NoticeEvent {
  readonly type: string;
  readonly sender?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly error?: string | undefined;
}

/** Names beyond this many are only counted: endpoints may be many. */
const MAX_NAMES = 1000;
const SHOWN_NAMES = 5;
const NAME_CHARACTERS = 64;
const MAX_ERRORS = 3;
const ERROR_CHARACTERS = 300;

/** Adds up events until they are sent, in bounded memory. */
export class NoticeSum {
  readonly #alarms = new Map<string, { event: AlarmEvent; changes: number }>();
  readonly #names = new Map<string | null, number>();
  readonly #errors = new Set<string>();
  #dead = 0;

  get isEmpty(): boolean {
    return this.#dead === 0 && this.#alarms.size === 0;
  }

  addAlarm(event: AlarmEvent, changes = 1): void {
    const before = this.#alarms.get(event.code)?.changes ?? 0;
    this.#alarms.set(event.code, { event, changes: before + changes });
  }

  addDead({ endpoint, sender, error }: NoticeEvent, hasErrors: boolean): void {
    this.#dead += 1;
    const name = endpoint ?? sender ?? null;
    if (this.#names.size < MAX_NAMES || this.#names.has(name)) this.#count(name, 1);
    if (hasErrors && error !== undefined && error !== '' && this.#errors.size < MAX_ERRORS)
      this.#errors.add(shortened(error, ERROR_CHARACTERS));
  }

  /** Adds what was to be sent before, and could not be. */
  addEarlier(earlier: NoticeSum): void {
    this.#dead += earlier.#dead;
    for (const [name, count] of earlier.#names) {
      if (this.#names.size < MAX_NAMES || this.#names.has(name)) this.#count(name, count);
    }
    for (const error of earlier.#errors) if (this.#errors.size < MAX_ERRORS) this.#errors.add(error);
    for (const [code, { event, changes }] of earlier.#alarms)
      this.addAlarm(this.#alarms.get(code)?.event ?? event, changes);
  }

  notice(kind: SourceKind, name: string | undefined): Notice {
    const alarms = Array.from(this.#alarms.values(), ({ event, changes }): NoticeAlarm => ({
      code: event.code,
      state: event.type === 'alarm' ? 'raised' : 'cleared',
      message: event.message,
      help: event.help,
      changes,
    }));
    const byCount = [...this.#names].sort(([, a], [, b]) => b - a).slice(0, SHOWN_NAMES);
    const most = byCount.map(([one, count]) => ({
      name: one === null ? null : shortened(one, NAME_CHARACTERS),
      count,
    }));
    const errors = [...this.#errors];
    const lines = [
      ...alarms.map(alarmLine),
      ...(this.#dead === 0 ? [] : [deadLine(kind, this.#dead, most)]),
      ...errors,
    ];
    const title = name === undefined ? '' : `${name}: `;
    return {
      text: lines.map((line) => `${title}${line}`).join('\n'),
      kind,
      name: name ?? null,
      alarms,
      deadLetters: { count: this.#dead, most, errors },
    };
  }

  #count(name: string | null, count: number): void {
    this.#names.set(name, (this.#names.get(name) ?? 0) + count);
  }
}

function alarmLine({ code, state, message, help, changes }: NoticeAlarm): string {
  const before = changes <= 2 ? '' : ` It changed ${String(changes)} times.`;
  return state === 'raised'
    ? `Alarm ${code}: ${message}${before} ${help}`
    : `Alarm ${code} has ended. ${message}${before}`;
}

/** "12 deliveries became dead letters: stripe 10, github 2." */
function deadLine(kind: SourceKind, count: number, most: readonly NoticeCount[]): string {
  const what = kind === 'sender' ? 'event' : 'delivery';
  const things =
    count === 1 ? `1 ${what} became a dead letter` : `${String(count)} ${plural(what)} became dead letters`;
  const others = most.reduce((rest, one) => rest - one.count, count);
  const parts = most.map((one) => `${one.name ?? 'unknown senders'} ${String(one.count)}`);
  if (others > 0) parts.push(`others ${String(others)}`);
  return `${things}: ${parts.join(', ')}.`;
}

function plural(what: 'event' | 'delivery'): string {
  return what === 'event' ? 'events' : 'deliveries';
}

function shortened(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}…`;
}
