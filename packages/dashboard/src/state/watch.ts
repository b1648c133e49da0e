import type { Clock } from '@webhook-backpressure/base';
import type { Inbox } from '@webhook-backpressure/inbox';
import type { Intake } from '@webhook-backpressure/core';
import {
  type ObservableOutbox,
  type ObservedInboxSnapshot,
  type ObservedIntakeSnapshot,
  type ObservedOutboxSnapshot,
  observedSnapshots,
} from '@webhook-backpressure/observe';
import { INBOX_COLUMNS, INTAKE_COLUMNS, OUTBOX_COLUMNS } from './history.ts';
import type { Change, InboxRates, IntakeRates, PageState, OutboxRates } from './page-state.ts';
import {
  inboxCounts,
  intakeCounts,
  senderCounts,
  WatchedSource,
  type Options,
  type View,
} from './watched-source.ts';

/** How many endpoints of a sender pages get each second. Its snapshot may have 1,000. */
const MAX_ENDPOINTS = 100;

/** How many changes of options and dead letters are kept. */
const KEPT_CHANGES = 100;
/** How far apart samples are, in milliseconds. */
const SECOND_MS = 1000;

/** What is watched, and with which time. */
export interface WatchParts {
  readonly intakes: ReadonlyMap<string, Intake>;
  readonly inboxes: ReadonlyMap<string, Inbox>;
  readonly outboxes: ReadonlyMap<string, ObservableOutbox>;
  readonly allowUpdate: boolean;
  readonly clock: Clock;
  /** Called after each sample. */
  readonly onSample: () => void;
  /** Called once, after the sample in which all sources are closed. */
  readonly onClosed: () => void;
  readonly onChange: (change: Change) => void;
  readonly onError: (error: unknown) => void;
}

/** Reads all sources once a second, from its construction until it is stopped. */
export class Watch {
  readonly #parts: WatchParts;
  readonly #startedAt: number;
  readonly #intakes: ReadonlyMap<string, WatchedSource<ObservedIntakeSnapshot, IntakeRates>>;
  readonly #inboxes: ReadonlyMap<string, WatchedSource<ObservedInboxSnapshot, InboxRates>>;
  readonly #outboxes: ReadonlyMap<string, WatchedSource<ObservedOutboxSnapshot, OutboxRates>>;
  readonly #changes: Change[] = [];
  readonly #timer: EverySecond;
  #sampledMs: number;
  #sampledAt: number;
  #isClosed = false;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.#startedAt = this.#sampledAt = Date.now();
    this.#intakes = mapped(parts.intakes, (intake) => {
      const snapshot = observedSnapshots(intake);
      return new WatchedSource({ snapshot, counts: intakeCounts, columns: INTAKE_COLUMNS });
    });
    this.#inboxes = mapped(parts.inboxes, (inbox) => {
      const snapshot = observedSnapshots(inbox);
      return new WatchedSource({ snapshot, counts: inboxCounts, columns: INBOX_COLUMNS });
    });
    this.#outboxes = mapped(parts.outboxes, (sender) => {
      const observed = observedSnapshots(sender);
      const snapshot = (): ObservedOutboxSnapshot => withBusiest(observed());
      return new WatchedSource({ snapshot, counts: senderCounts, columns: OUTBOX_COLUMNS });
    });
    this.#sampledMs = parts.clock.now();
    this.#timer = new EverySecond(parts.clock, () => {
      this.#sample();
    });
  }

  stop(): void {
    this.#timer.stop();
  }

  /** The last sample, as the event `state` has it. */
  get last(): PageState {
    return this.#state(this.#sampledAt, ({ last }) => last);
  }

  /** The state at this moment, with the last 15 minutes. */
  get now(): PageState {
    return { ...this.#state(Date.now(), ({ now }) => now), changes: [...this.#changes] };
  }

  /** All options in force, and those of them that were changed since the last sample. */
  readOptions(
    kind: 'intake' | 'inbox',
    name: string,
  ): { readonly options: Options; readonly changed: Options | undefined } {
    const source = (kind === 'intake' ? this.#intakes : this.#inboxes).get(name);
    return source?.readOptions() ?? { options: {}, changed: undefined };
  }

  note(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length > KEPT_CHANGES) this.#changes.shift();
    this.#parts.onChange(change);
  }

  #sample(): void {
    const { clock, onSample, onClosed, onError } = this.#parts;
    const nowMs = clock.now();
    const elapsedMs = nowMs - this.#sampledMs;
    this.#sampledMs = nowMs;
    this.#sampledAt = Date.now();
    for (const [kind, sources] of this.#all()) {
      for (const [name, source] of sources) {
        try {
          source.sample(this.#sampledAt, elapsedMs);
          // Changes that the program makes itself are shown as well.
          const options = source.takeChange();
          if (options !== undefined) this.note({ at: this.#sampledAt, kind, name, options });
        } catch (error) {
          onError(error);
        }
      }
    }
    try {
      onSample();
    } catch (error) {
      // A source of the user's own may have values that JSON has not. The timer must not end the process.
      onError(error);
    }
    const sources = this.#all().flatMap(([, all]) => [...all.values()]);
    if (this.#isClosed || sources.length === 0 || sources.some(({ isClosed }) => !isClosed)) return;
    this.#isClosed = true;
    onClosed();
  }

  #all(): readonly (readonly [kind: Change['kind'], sources: ReadonlyMap<string, WatchedOne>])[] {
    return [
      ['intake', this.#intakes],
      ['inbox', this.#inboxes],
      ['outbox', this.#outboxes],
    ];
  }

  #state(at: number, view: <S, R>(source: WatchedLike<S, R>) => View<S, R>): PageState {
    return {
      version: 1,
      startedAt: this.#startedAt,
      at,
      allowUpdate: this.#parts.allowUpdate,
      intakes: record(this.#intakes, view),
      inboxes: record(this.#inboxes, view),
      outboxes: record(this.#outboxes, view),
    };
  }
}

/** The fields that all kinds of sources have. */
type WatchedOne = Pick<WatchedSource<ObservedOutboxSnapshot, OutboxRates>, 'sample' | 'isClosed'> & {
  takeChange(): Readonly<Record<string, unknown>> | undefined;
};

function withBusiest(snapshot: ObservedOutboxSnapshot): ObservedOutboxSnapshot {
  return { ...snapshot, endpoints: snapshot.endpoints.slice(0, MAX_ENDPOINTS) };
}

interface WatchedLike<S, R> {
  readonly last: View<S, R>;
  readonly now: View<S, R>;
}

function mapped<A, B>(map: ReadonlyMap<string, A>, action: (value: A) => B): ReadonlyMap<string, B> {
  return new Map([...map].map(([name, value]) => [name, action(value)]));
}

/** `fromEntries` keeps names such as `__proto__` as data. */
function record<A, B>(map: ReadonlyMap<string, A>, action: (value: A) => B): Readonly<Record<string, B>> {
  return Object.fromEntries(mapped(map, action));
}

interface DenoRuntime {
  readonly Deno?: { unrefTimer?: (id: number) => void };
}

/**
 * Calls `action` once a second until it is stopped. After a block of the event loop the missed calls are left out. Does
 * not keep the process alive.
 */
class EverySecond {
  readonly #clock: Clock;
  readonly #action: () => void;
  #nextMs: number;
  #timer: unknown;
  #isStopped = false;

  constructor(clock: Clock, action: () => void) {
    this.#clock = clock;
    this.#action = action;
    this.#nextMs = clock.now();
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#clock.clearTimeout(this.#timer);
  }

  #schedule(): void {
    const nowMs = this.#clock.now();
    this.#nextMs += SECOND_MS;
    if (this.#nextMs <= nowMs || this.#nextMs > nowMs + SECOND_MS) this.#nextMs = nowMs + SECOND_MS;
    this.#timer = this.#clock.setTimeout(() => {
      if (this.#isStopped) return;
      this.#schedule();
      this.#action();
    }, this.#nextMs - nowMs);
    // Deno's timers are numbers, which have no `unref`.
    const { Deno } = globalThis as DenoRuntime;
    if (typeof this.#timer === 'number') Deno?.unrefTimer?.(this.#timer);
  }
}
