import {
  boundToThisContext,
  checkBoolean,
  checkClock,
  checkNames,
  checkNumber,
  type Clock,
  DAY_MS,
  inBackground,
  invalid,
  monotonic,
  showWarning,
  systemClock,
  Timer,
} from '@webhook-backpressure/base';
import type { AlarmEvent } from '@webhook-backpressure/core';
import { measuring } from '@webhook-backpressure/core/extend';
import type { EventSource } from '../logs/log-events.ts';
import { type SourceKind, sourceKindOf } from '../logs/source-kind.ts';
import { observationOf } from '../observe.ts';
import { type NoticeEvent, NoticeSum } from './notice.ts';
import { type NoticeReceiver, type Send, sendingTo } from './receivers.ts';

/** What notices are about: `alarms` that are raised or cleared, and `dead-letters`. */
export type NoticeEvents = 'alarms' | 'dead-letters';

/** The options of `notify`. */
export interface NotifyOptions {
  /** Who gets the notices: a function, a URL, or a sender with the id of an endpoint. */
  to: NoticeReceiver;
  /**
   * Signs the notices for a URL as Standard Webhooks defines: base64 of at least 24 bytes, with or without the prefix
   * `whsec_`. Default: no signature.
   */
  secret?: string | undefined;
  /** What notices are about. Default: both. */
  events?: readonly NoticeEvents[] | undefined;
  /** The least time between two notices, in milliseconds, from 1,000 to 86,400,000. Default: 60,000. */
  everyMs?: number | undefined;
  /** Begins each line, to distinguish several sources. Default: nothing. */
  name?: string | undefined;
  /**
   * Whether notices contain the messages of errors: the first three different ones, in their first 300 characters. They may
   * contain secrets and data of senders. Default: false.
   */
  errors?: boolean | undefined;
  /** The clock of the notices. Default: that of the runtime, with a timer that does not keep the process alive. */
  clock?: Clock | undefined;
}

const CODE = 'ERR_WBP_NOTIFY';
const EVENTS: readonly unknown[] = ['alarms', 'dead-letters'] satisfies readonly NoticeEvents[];
const NAMES = ['to', 'secret', 'events', 'everyMs', 'name', 'errors', 'clock'];
const MIN_MS = 1000;
const DEFAULT_MS = 60_000;

/**
 * Sends notices about the alarms and dead letters of an intake, an inbox or a sender. An alarm is sent immediately if
 * nothing was sent in the last `everyMs`; dead letters are counted for `everyMs` first. One notice is sent at a time. A notice that could
 * not be sent is part of the next one. Nothing that the receiver does affects a delivery.
 *
 * @param source - an intake, an inbox or a sender.
 * @returns a function that ends it: sends what has been counted, and resolves when that has ended.
 * @throws BackpressureError `ERR_WBP_NOTIFY` if the source or an option is invalid.
 *
 * @example
 * ```ts
 * notify(webhooks.inbox, { to: process.env.SLACK_WEBHOOK_URL })
 * ```
 */
export function notify(source: EventSource, options: NotifyOptions): () => Promise<void> {
  const kind = sourceKindOf(source);
  if (kind === undefined) {
    const rule = 'an intake, such as the .intake of a middleware, an inbox or a sender';
    throw invalid(CODE, 'source', rule, source);
  }
  const settings = settingsOf(kind, options);
  const notices = new Notices(settings);
  const { to } = options as { readonly to: { readonly sender?: unknown; readonly endpoint?: unknown } };
  // Notices that cannot be delivered must not cause notices.
  const ownEndpoint = to.sender === source ? to.endpoint : undefined;
  const unsubscribe = source.subscribe(
    // So that the process warnings stay: a notice says less than the log.
    measuring((event: NoticeEvent) => {
      if (ownEndpoint === undefined || event.endpoint !== ownEndpoint) notices.add(event);
    }),
  );
  // Later, since it can report an alarm.
  observationOf(source);
  return async () => {
    unsubscribe();
    await notices.end();
  };
}

interface NotifySettings {
  readonly kind: SourceKind;
  readonly name: string | undefined;
  readonly send: Send;
  readonly events: ReadonlySet<NoticeEvents>;
  readonly everyMs: number;
  readonly hasErrors: boolean;
  readonly clock: Clock;
}

function settingsOf(kind: SourceKind, options: NotifyOptions): NotifySettings {
  checkNames(options, 'options', NAMES, CODE);
  const { to, secret, events = ['alarms', 'dead-letters'], everyMs = DEFAULT_MS } = options;
  const { name, errors = false, clock = systemClock } = options;
  if (!Array.isArray(events) || events.length === 0 || !events.every((one) => EVENTS.includes(one)))
    throw invalid(CODE, 'events', 'a list of "alarms" and "dead-letters"', events);
  checkNumber(CODE, 'everyMs', everyMs, MIN_MS, DAY_MS, 'milliseconds');
  if (name !== undefined && (typeof (name as unknown) !== 'string' || name === ''))
    throw invalid(CODE, 'name', 'a string of at least one character', name);
  checkBoolean(CODE, 'errors', errors);
  checkClock(clock);
  // Otherwise in the context of the request that caused the event.
  const send = boundToThisContext(sendingTo(to, secret));
  return {
    kind,
    name,
    send,
    events: new Set(events as readonly NoticeEvents[]),
    everyMs,
    hasErrors: errors,
    clock,
  };
}

/** Adds events up, and sends one notice at a time. */
class Notices {
  readonly #settings: NotifySettings;
  readonly #now: () => number;
  readonly #timer: Timer;
  #sum = new NoticeSum();
  /** Before this time, nothing is sent. */
  #notBeforeMs = -Infinity;
  #sending: Promise<void> | undefined;
  #hasFailed = false;

  constructor(settings: NotifySettings) {
    this.#settings = settings;
    this.#now = monotonic(settings.clock);
    this.#timer = new Timer(settings.clock, () => {
      this.#flush();
    });
  }

  add(event: NoticeEvent): void {
    const { events, hasErrors, everyMs } = this.#settings;
    const nowMs = this.#now();
    switch (event.type) {
      case 'alarm':
      case 'alarm-cleared':
        if (!events.has('alarms')) return;
        this.#sum.addAlarm(event as unknown as AlarmEvent);
        this.#sendAt(Math.max(nowMs, this.#notBeforeMs));
        break;
      case 'dead':
      case 'overflow':
        if (!events.has('dead-letters')) return;
        this.#sum.addDead(event, hasErrors);
        if (!this.#timer.isSet) this.#sendAt(Math.max(nowMs + everyMs, this.#notBeforeMs));
        break;
      case 'closed':
        this.#flush();
    }
  }

  /** Sends the rest, and resolves when that has ended. */
  async end(): Promise<void> {
    this.#timer.clear();
    await this.#sending;
    this.#flush();
    await this.#sending;
    this.#timer.clear();
  }

  #sendAt(atMs: number): void {
    const nowMs = this.#now();
    if (atMs <= nowMs) {
      this.#flush();
      return;
    }
    this.#timer.clear();
    this.#timer.set(nowMs, atMs - nowMs);
  }

  #flush(): void {
    this.#timer.clear();
    // The end of the current request sends the rest.
    if (this.#sending !== undefined || this.#sum.isEmpty) return;
    const sum = this.#sum;
    this.#sum = new NoticeSum();
    this.#notBeforeMs = this.#now() + this.#settings.everyMs;
    this.#sending = this.#send(sum).finally(() => {
      this.#sending = undefined;
      if (!this.#sum.isEmpty) this.#sendAt(this.#notBeforeMs);
    });
    inBackground(this.#sending);
  }

  async #send(sum: NoticeSum): Promise<void> {
    const { send, kind, name } = this.#settings;
    try {
      // Not within the event: a function may take long.
      await Promise.resolve();
      await send(sum.notice(kind, name));
      this.#hasFailed = false;
    } catch {
      this.#sum.addEarlier(sum);
      if (this.#hasFailed) return;
      this.#hasFailed = true;
      // Not the error: it may contain the address, which is a secret of Slack's.
      const again = String(Math.round(this.#settings.everyMs / 1000));
      showWarning(
        'WBP_NOTIFY_FAILED',
        `A notice of notify() could not be sent. It is tried again every ${again} s.`,
      );
    }
  }
}
