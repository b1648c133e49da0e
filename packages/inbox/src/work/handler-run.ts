import { abortController, NO_DEADLINE, type Signal, type Timed } from '@webhook-backpressure/base';
import type { BucketLimit } from '@webhook-backpressure/fleet';
import type { EventAttempt } from '../events/inbox-events.ts';
import type { ClaimedDelivery, ClaimRef } from '../store/inbox-store.ts';
import type { Completion } from './completion.ts';

/**
 * - `waiting`: claimed, waits for a worker
 * - `running`: the handler runs
 * - `settling`: the result is being stored
 * - `over`: the run has ended; the result of a handler that still runs is ignored
 */
export type HandlerRunState = 'waiting' | 'running' | 'settling' | 'over';

/** One run of the handler for a claimed delivery, from the claim to its end. */
export class HandlerRun implements Timed<HandlerRun> {
  readonly claimed: ClaimedDelivery;
  readonly bytes: number;
  readonly ref: ClaimRef;
  /** Whether the delivery was in flight when a process died. */
  readonly isSuspect: boolean;
  /** The limit of its key that its token was taken from, until the token is used. */
  rate: BucketLimit | undefined;
  /** Whether its token was found to be usable and no time has passed since. */
  isTokenFresh = false;
  /** The deliveries of its batch, itself included, if it has a worker for them. */
  members: readonly HandlerRun[] = [this];
  /** The run whose worker it uses: its own, or that of its batch. */
  holder: HandlerRun = this;
  /** How many deliveries use its worker and have not ended. */
  users = 1;
  /** Older deliveries of its group, which are completed with it. */
  followers: readonly HandlerRun[] = [];
  /** Whether it was claimed by looking ahead, or follows another, so that it uses no worker. */
  isPassive = false;
  /** Whether no more deliveries may join its batch. */
  isFull = false;
  /** Whether its delivery was decrypted, and its handler found. */
  isOpened = false;
  /** What `coalesce` has thrown. */
  coalesceError: { readonly error: unknown } | undefined;
  /** Attempts that count. The first stranding does not: another delivery may have killed the process. */
  readonly countedAttempts: number;
  state: HandlerRunState = 'waiting';
  /** The name of its handler, if the delivery was stored for one or passed to one. */
  handler: string | undefined;
  hasWorker = false;
  startedAtMs = 0;
  /** The same in lived time, and how late the process had been in all by then: see {@link Deadlines}. */
  beganMs = 0;
  lateAtStartMs = 0;
  /** Whether its key is failing, so that the run counts as a probe. */
  isProbe = false;
  /** Whether the attempt was made: the delivery was neither given back nor lost, and had an attempt left. */
  isMade = false;
  /** The calls of `complete`, if the handler has asked for it. */
  completion: Completion | undefined;
  /** Whether `complete` keeps the delivery. */
  isKept = false;
  /** Called when the handler has ended, even if its result is ignored. */
  onHandlerEnd: () => void = () => undefined;
  dueStep: number = NO_DEADLINE;
  duePrevious: HandlerRun | null = null;
  dueNext: HandlerRun | null = null;
  /** Created on first use: most handlers never read `signal`. */
  #controller: ReturnType<typeof abortController> | undefined;

  constructor(claimed: ClaimedDelivery, bytes: number) {
    const { key, id, attempt, strandings } = claimed;
    this.claimed = claimed;
    this.bytes = bytes;
    this.ref = { key, id, attempt };
    this.handler = claimed.handler;
    this.isSuspect = strandings > 0;
    this.countedAttempts = attempt - Math.min(1, strandings);
  }

  /** A renewal would wait for the transaction in which `complete` was called, and all others with it. */
  get isRenewed(): boolean {
    return this.completion?.isCalled !== true;
  }

  /** Whether a delivery of it waits for the worker. */
  get isWaiting(): boolean {
    return this.members.some(({ state }) => state === 'waiting');
  }

  /** Whether the handler runs for a delivery of it. */
  get isRunning(): boolean {
    return this.members.some(({ state }) => state === 'running');
  }

  /** How many deliveries its handler finishes. */
  get size(): number {
    return this.members.reduce((sum, { followers }) => sum + 1 + followers.length, 0);
  }

  /** Joins the batch of a run that has a worker. */
  join(holder: HandlerRun): void {
    holder.members = [...holder.members, this];
    holder.users += 1;
    this.holder = holder;
    this.isPassive = false;
  }

  /** Uses the worker of another run of its group, which needs none. */
  takeWorkerOf(other: HandlerRun): void {
    if (other === this) return;
    this.isPassive = false;
    this.startedAtMs = other.startedAtMs;
    this.isProbe = other.isProbe;
    other.isPassive = true;
  }

  /** The attempt as events describe it. */
  get facts(): EventAttempt {
    const { key, sender, id, attempt } = this.claimed;
    const { handler } = this;
    return { key, sender, id, attempt, ...(handler !== undefined && { handler }) };
  }

  get signal(): Signal {
    this.#controller ??= abortController();
    return this.#controller.signal;
  }

  /** Aborts the signal of the handler. The runtime reports listeners that throw. */
  abort(why: string): void {
    const error = new Error(why);
    error.name = 'AbortError';
    this.#controller ??= abortController();
    this.#controller.abort(error);
  }
}
