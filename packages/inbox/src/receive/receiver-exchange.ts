import {
  Beats,
  type FleetBeat,
  type FleetRegistry,
  type FleetView,
  jsonOf,
  MEMBER_MS,
  memberId,
  newsTextOf,
} from '@webhook-backpressure/fleet';
import { type Clock, isRecord } from '@webhook-backpressure/base';
import type { RefusalExchange } from '@webhook-backpressure/core/extend';
import type { Scheduler, Task } from '../time/scheduler.ts';

/** The store has its own registry, or its own tables in one. */
const RESOURCE = 'webhook-inbox';
/** How often a due beat is looked for. */
const LOOK_MS = 500;
const LEAVE_LIMIT_MS = 1000;

export interface ReceiverExchangeParts {
  readonly registry: FleetRegistry;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly now: () => number;
  readonly random: () => number;
  /** Joins the refusals of this receiver with those of others. */
  readonly join: () => RefusalExchange;
  /** Whether other processes use the store. */
  readonly isShared: () => boolean;
}

/**
 * The receivers on one store see each other in its registry: each books retries behind those of all, at its share of the
 * rate. Nothing waits for the registry, and nothing is refused if it fails.
 */
export class ReceiverExchange {
  readonly #parts: ReceiverExchangeParts;
  readonly #id: string;
  readonly #beats: Beats;
  readonly #task: Task;
  #refusals: RefusalExchange | undefined;
  #members = 1;
  #answeredMs = -Infinity;
  #hasEnded = false;
  #seen: Record<string, number> = {};

  constructor(parts: ReceiverExchangeParts) {
    const { registry, clock, now, random, scheduler } = parts;
    this.#parts = parts;
    this.#id = memberId(random);
    this.#beats = new Beats({
      registry,
      clock,
      now,
      random,
      compose: this.#compose,
      answered: this.#answered,
      // The next beat is due anyway, and without one this receiver books alone after 10 s.
      failed: () => undefined,
    });
    this.#task = scheduler.task(() => {
      this.begin();
    });
  }

  /** How many receivers share the return rate, this one included. */
  members(nowMs: number): number {
    return nowMs - this.#answeredMs < MEMBER_MS ? this.#members : 1;
  }

  begin(): void {
    if (this.#hasEnded) return;
    const { now, isShared, join } = this.#parts;
    this.#task.set(now() + LOOK_MS);
    if (!isShared()) return;
    this.#refusals ??= join();
    this.#beats.send(now());
  }

  /** Leaves. Resolves when the others can see that, or after 1 s. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#task.clear();
    if (this.#refusals === undefined) return;
    this.#refusals.leave();
    await this.#beats.end(LEAVE_LIMIT_MS);
  }

  readonly #compose = (number: number): FleetBeat => {
    const now = this.#parts.now();
    const refusals = this.#refusals;
    const state = JSON.stringify({ hasLeft: this.#hasEnded, refusals: refusals?.state(now) });
    const news = newsTextOf(refusals?.news(now));
    return { resource: RESOURCE, member: this.#id, number, state, news, seen: this.#seen };
  };

  readonly #answered = ({ members, news }: FleetView, sentAtMs: number): void => {
    const states = members
      .filter(({ member }) => member !== this.#id)
      .map(({ state }) => jsonOf(state))
      .filter(isRecord)
      .filter(({ hasLeft }) => hasLeft !== true);
    const unread = news.filter(({ member, number }) => number > (this.#seen[member] ?? 0));
    const present = new Set(members.map(({ member }) => member));
    const seen = Object.entries(this.#seen).filter(([member]) => present.has(member));
    this.#seen = Object.fromEntries([...seen, ...unread.map((one) => [one.member, one.number] as const)]);
    this.#refusals?.delivered();
    const view = {
      others: states.map(({ refusals }) => refusals),
      news: unread.map((one) => jsonOf(one.news)),
    };
    // Before the view: each receiver counts as one with its part of the workers.
    this.#members = states.length + 1;
    this.#answeredMs = sentAtMs;
    this.#refusals?.learn(view, this.#parts.now());
  };
}
