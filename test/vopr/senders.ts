import type { Inbox, InboxAnswer } from '@webhook-backpressure/inbox';
import { type Habit, parseHabit } from '@webhook-backpressure/planner/parts';
import type { PlannedDelivery } from './plan.ts';
import type { Process, World } from './world.ts';

/** How long senders wait for an answer. */
const TIMEOUT_MS = 10_000;
/** Without any receiver, a connection is refused. */
const REFUSED_MS = 10;

const BODY = new TextEncoder().encode('{}');

/** A delivery that its sender has given up, and lists from then on. Times of day by its own clock. */
export interface Missed {
  readonly sent: Sent;
  readonly atMs: number;
  /** On the clock of the run. */
  readonly listedAtMs: number;
}

interface Sent {
  readonly planned: PlannedDelivery;
  readonly habit: Habit;
  attempts: number;
  isAcknowledged: boolean;
  readonly to: Receiver | undefined;
}

/** A receiver of the moment. */
export interface Receiver {
  readonly process: Process;
  readonly inbox: Inbox;
}

/** The senders of a run, with the habits of the sender lab. */
export class Senders {
  /** Deliveries that are neither acknowledged nor given up. */
  open = 0;
  readonly missed: Missed[] = [];
  /** Until when a reconciler has found what was missed. */
  mark: number | undefined;
  /** The processes that have not answered a request, one for each. */
  readonly #unanswered = new Map<object, Process>();
  readonly #world: World;
  readonly #receiver: () => Receiver | undefined;

  /** How late missed deliveries are listed, at most. Undefined: they are not, and are lost. */
  readonly #maxLagMs: number | undefined;

  constructor(world: World, receiver: () => Receiver | undefined, maxLagMs?: number) {
    this.#world = world;
    this.#maxLagMs = maxLagMs;
    this.#receiver = receiver;
  }

  /** Whether each delivery is acknowledged or given up, and each request answered. */
  get isDone(): boolean {
    return this.open === 0 && [...this.#unanswered.values()].every(({ isDead }) => isDead);
  }

  /** @param to - the only receiver of it. Default: any at each attempt. */
  expect(planned: PlannedDelivery, to?: Receiver): void {
    this.open += 1;
    const sent = {
      planned,
      habit: parseHabit('habit', planned.habit),
      attempts: 0,
      isAcknowledged: false,
      to,
    };
    this.#world.after(planned.atMs, () => {
      this.#send(sent);
    });
  }

  /** Makes one more attempt. */
  sendAgain({ sent }: Missed): void {
    this.#world.after(1000, () => {
      this.#send(sent);
    });
  }

  #send(sent: Sent): void {
    sent.attempts += 1;
    const world = this.#world;
    const receiver = sent.to ?? this.#receiver();
    let isOver = false;
    const once = (action: () => void) => (): void => {
      if (isOver) return;
      isOver = true;
      action();
    };
    const gone = once(() => {
      this.#failed(sent, undefined, undefined);
    });
    world.after(receiver === undefined ? REFUSED_MS : TIMEOUT_MS, gone);
    receiver?.process.do(() => {
      const { id, key } = sent.planned;
      const request = { method: 'POST', url: '/', hint: '', headers: { 'webhook-id': id, 'x-key': key } };
      const answered = receiver.inbox.receive({
        ...request,
        read: (body) => {
          body.add(BODY);
          return Promise.resolve('whole');
        },
      });
      this.#unanswered.set(answered, receiver.process);
      answered.then(
        (answer) => {
          this.#unanswered.delete(answered);
          if (receiver.process.isDead) return;
          world.note();
          once(() => {
            this.#answered(sent, answer);
          })();
        },
        (error: unknown) => world.wrong.push(`A request rejected: ${String(error)}`),
      );
    });
  }

  #answered(sent: Sent, answer: InboxAnswer | null): void {
    const world = this.#world;
    const { id, key, isRepeated } = sent.planned;
    const { status = 0, headers = {}, body = '' } = answer ?? {};
    if (status === 200 || status === 202) {
      world.see({ type: 'acknowledged', key, id });
      const { id: acknowledged } = JSON.parse(body) as { readonly id: string };
      if (acknowledged !== id) world.wrong.push(`${id} was acknowledged as ${acknowledged}.`);
      if (!sent.isAcknowledged) this.open -= 1;
      const isFirst = !sent.isAcknowledged;
      sent.isAcknowledged = true;
      if (isRepeated && isFirst)
        world.after(1000 * world.dice.whole(0, 60), () => {
          this.#send(sent);
        });
      return;
    }
    const retryAfter = Number(headers['Retry-After']);
    if ((status !== 429 && status !== 503) || !Number.isInteger(retryAfter) || retryAfter < 1)
      world.wrong.push(`${id} was answered with ${String(status)} and ${String(headers['Retry-After'])}.`);
    world.see({ type: 'refused', key, id });
    this.#failed(sent, status, retryAfter);
  }

  #failed(sent: Sent, status: number | undefined, retryAfterS: number | undefined): void {
    const world = this.#world;
    if (sent.isAcknowledged) return;
    const { maxAttempts } = sent.planned;
    const failure = { attempts: sent.attempts, retryAfterS, status, ageS: 0 };
    const isLast = !world.isCalm && sent.attempts >= maxAttempts;
    const delayS = isLast ? undefined : sent.habit(failure, () => world.dice.random());
    // A sender of this run gives up before it waits for an hour.
    if (delayS === undefined || delayS > 3600) {
      this.open -= 1;
      // It may be stored all the same, but its sender got no promise.
      sent.isAcknowledged = true;
      if (this.#maxLagMs === undefined) return;
      // A reconciler must find it.
      world.see({ type: 'acknowledged', key: sent.planned.key, id: sent.planned.id });
      const listedAtMs = world.nowMs + world.dice.whole(0, world.dice.of([0, 1000, this.#maxLagMs]));
      this.missed.push({ sent, atMs: world.wallMs, listedAtMs });
      return;
    }
    world.after(delayS * 1000, () => {
      this.#send(sent);
    });
  }
}
