import type { InboxEvent, InboxOptions, InboxSnapshot } from '@webhook-backpressure/inbox';
import { stream } from '@webhook-backpressure/planner/parts';
import { InboxBench } from '../inbox-bench.ts';

const SECOND = 1000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;

/** An outage of a service that the handlers call. */
export interface Plan {
  /** Deliveries that are stored before the outage begins. */
  readonly stored: number;
  readonly keyOf?: ((number: number) => string) | undefined;
  readonly concurrency: number;
  /** How long a handler takes, whether it succeeds or throws. */
  readonly handlerMs: number;
  /** The duration of the outage, which begins at 0. */
  readonly outageMs: number;
  /** The behavior of a handler at a time: it works, throws, or hangs until `maxHandlingMs`. Default: throws in the outage. */
  readonly meet?: ((atMs: number, number: number, active: number) => 'work' | 'throw' | 'hang') | undefined;
  /** How long the simulation runs after the outage at most. Default five minutes. */
  readonly afterMs?: number | undefined;
  /** How long after the outage time advances in small steps. Default five minutes. */
  readonly fineMs?: number | undefined;
  readonly options?: Partial<InboxOptions> | undefined;
  readonly seed?: number | undefined;
}

export interface Result {
  readonly deadLetters: number;
  readonly completed: number;
  /** Attempts until the end of the outage. */
  readonly attemptsInOutage: number;
  /** The most counted attempts of one delivery. */
  readonly mostAttempts: number;
  /** The time after the outage until all workers are busy; Infinity for never. */
  readonly fullAfterMs: number;
  /** The time after the outage until all deliveries are completed; Infinity for never. */
  readonly clearAfterMs: number;
  /** Handlers that started in each second after the first success after the outage. */
  readonly begunPerSecond: readonly number[];
  /** The most concurrent handlers in each of these seconds. */
  readonly peakPerSecond: readonly number[];
  readonly events: readonly InboxEvent[];
  readonly snapshots: readonly InboxSnapshot[];
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Simulates an outage with a real inbox on the manual clock. */
class OutageRun {
  readonly bench: InboxBench;
  readonly #plan: Plan;
  #active = 0;
  #begun: number[] = [];
  #peaks: { readonly atMs: number; readonly active: number }[] = [];
  #attemptsInOutage = 0;
  #mostAttempts = 0;
  #fullAtMs = Infinity;
  #clearAtMs = Infinity;

  constructor(plan: Plan) {
    this.#plan = plan;
    const { keyOf = () => 'default', concurrency, seed = 1, stored, options } = plan;
    this.bench = new InboxBench({
      concurrency,
      capacity: 2 * stored + 1000,
      keyGenerator: ({ text }) => keyOf(Number(text())),
      random: stream(seed, 'inbox'),
      process: ({ text }, { attempt }) => this.#handle(Number(text()), attempt),
      ...options,
    });
  }

  async run(): Promise<Result> {
    const { bench } = this;
    const { stored, outageMs, afterMs = 5 * MINUTE, fineMs = 5 * MINUTE } = this.#plan;
    // All deliveries are stored first; handlers start when time advances.
    for (let at = 0; at < stored; at += 1) void bench.send(String(at), String(at));
    for (let at = 0; at < 20 + stored / 100; at += 1) await turn();
    await this.#pass(Math.min(outageMs, 2 * MINUTE), 50);
    await this.#pass(outageMs, 1000);
    const attemptsInOutage = this.#attemptsInOutage;
    await this.#pass(outageMs + Math.min(afterMs, fineMs), 50);
    await this.#pass(outageMs + afterMs, 30_000);
    const { totals } = bench.inbox.snapshot();
    const restored =
      bench.events.find(({ type, at }) => type === 'completed' && at >= outageMs)?.at ?? outageMs;
    const seconds = Array.from({ length: 10 }, (_, at) => restored + at * SECOND);
    const within = (atMs: number, fromMs: number): boolean => atMs >= fromMs && atMs < fromMs + SECOND;
    return {
      deadLetters: totals.dead,
      completed: totals.completed,
      attemptsInOutage,
      mostAttempts: this.#mostAttempts,
      fullAfterMs: this.#fullAtMs - outageMs,
      clearAfterMs: this.#clearAtMs - outageMs,
      begunPerSecond: seconds.map((fromMs) => this.#begun.filter((atMs) => within(atMs, fromMs)).length),
      peakPerSecond: seconds.map((fromMs) =>
        Math.max(0, ...this.#peaks.filter(({ atMs }) => within(atMs, fromMs)).map(({ active }) => active)),
      ),
      events: bench.events,
      snapshots: [bench.inbox.snapshot()],
    };
  }

  async #pass(untilMs: number, stepMs: number): Promise<void> {
    const { clock, inbox } = this.bench;
    // So that the next timer is not after the end.
    const end = clock.setTimeout(() => undefined, Math.max(0, untilMs - clock.now()));
    while (clock.now() < untilMs && this.#clearAtMs === Infinity) {
      // Nothing happens in the steps without a timer.
      clock.advanceToNext();
      const stepEndMs = Math.min(Math.ceil(clock.now() / stepMs) * stepMs, untilMs);
      clock.advance(stepEndMs - clock.now());
      for (let at = 0; at < 6; at += 1) await turn();
      if (inbox.snapshot().depth === 0) this.#clearAtMs = clock.now();
    }
    clock.clearTimeout(end);
  }

  #handle(number: number, attempt: number): Promise<void> {
    const { clock } = this.bench;
    const { concurrency, handlerMs, outageMs } = this.#plan;
    const { meet = (atMs: number): 'work' | 'throw' => (atMs < outageMs ? 'throw' : 'work') } = this.#plan;
    const nowMs = clock.now();
    this.#active += 1;
    this.#mostAttempts = Math.max(this.#mostAttempts, attempt);
    if (nowMs < outageMs) this.#attemptsInOutage += 1;
    else {
      this.#begun.push(nowMs);
      this.#peaks.push({ atMs: nowMs, active: this.#active });
      if (this.#active === concurrency) this.#fullAtMs = Math.min(this.#fullAtMs, nowMs);
    }
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        this.#active -= 1;
        settle();
      };
      const met = meet(nowMs, number, this.#active);
      if (met === 'hang') {
        const { maxHandlingMs = MINUTE } = this.#plan.options ?? {};
        clock.setTimeout(() => (this.#active -= 1), maxHandlingMs);
        return;
      }
      clock.setTimeout(() => {
        end(() => {
          if (met === 'work') resolve();
          else reject(new Error('The database is down.'));
        });
      }, handlerMs);
    });
  }
}

export function run(plan: Plan): Promise<Result> {
  return new OutageRun(plan).run();
}
