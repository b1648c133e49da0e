import { invalid } from '@webhook-backpressure/base';
import {
  checked,
  type HistoryEvent,
  type HistoryRule,
  type HistoryViolation,
  OF_DELIVERIES,
} from './history-event.ts';
import { type Excess, HistoryLimits } from './history-limits.ts';
import { type Known, nameOf, newDelivery } from './known-delivery.ts';

/**
 * Checks what an inbox, an intake or a sender promises, in a list of what happened. Record what the outside sees: what senders
 * were answered, which handlers ran, what the store lists at the end. See `HistoryEvent` for the types of events, and
 * `HistoryRule` for what is checked. Takes time and memory in proportion to the history.
 *
 * @param events - in the order in which they happened; complete from the first delivery on.
 * @returns all violations, in the order in which they were found: an empty array for a correct history.
 * @throws BackpressureError `ERR_WBP_HISTORY` if `events` is no array of events.
 *
 * @example
 * ```ts
 * assert.deepEqual(checkHistory(events), [])
 * ```
 */
export function checkHistory(events: readonly HistoryEvent[]): HistoryViolation[] {
  if (!Array.isArray(events)) throw invalid('ERR_WBP_HISTORY', 'events', 'an array', events);
  const check = new HistoryCheck();
  for (const [at, event] of events.entries()) check.add(checked(event, at), at);
  return check.end();
}

class HistoryCheck {
  readonly #found: HistoryViolation[] = [];
  readonly #limits = new HistoryLimits();
  readonly #deliveries = new Map<string, Map<string, Known>>();
  /** The stored deliveries of each key, in order, and the first that may be unfinished. */
  readonly #lines = new Map<string, { readonly all: Known[]; head: number }>();
  readonly #runsOf = new Map<string, Set<Known>>();
  readonly #counts = new Map<string, number>();
  /** The last event by which any finished delivery, or any of a key, may be unfinished again. */
  readonly #reopenedAt = new Map<string | null, number>();

  add(event: HistoryEvent, at: number): void {
    const { type, atMs, worker = '' } = event;
    this.#count(type);
    if (event.worker !== undefined) this.#count(type, worker);
    if (OF_DELIVERIES.has(type) || event.id !== undefined) {
      this.#ofDelivery(event, this.#known(event.key ?? '', event.id ?? ''), at);
      return;
    }
    switch (type) {
      case 'redriven':
      case 'forgotten':
      case 'discarded':
      case 'purged':
        this.#reopenedAt.set(event.key ?? null, at);
        break;
      case 'retry-after':
        this.#limits.pause(event.untilMs ?? atMs, at, event.key ?? '');
        break;
      case 'limits':
        this.#limits.apply(event, at);
        break;
      case 'totals':
        this.#compare(event, at);
        break;
      case 'died':
        for (const known of this.#runsOf.get(worker) ?? []) this.#endRun(known, worker);
    }
  }

  end(): HistoryViolation[] {
    for (const deliveries of this.#deliveries.values()) {
      for (const known of deliveries.values()) {
        const { promisedAt, finished, pendingAt } = known;
        if (promisedAt === undefined || finished !== undefined || pendingAt !== undefined) continue;
        this.#report('lost', `${nameOf(known)} is not finished, and not pending at the end.`, promisedAt);
      }
    }
    return this.#found;
  }

  #ofDelivery(event: HistoryEvent, known: Known, at: number): void {
    const { type, worker = '', atMs } = event;
    switch (type) {
      case 'stored':
      case 'overflow':
        this.#store(known, type === 'overflow', worker, at);
        break;
      case 'acknowledged':
      case 'duplicate':
      case 'conflict':
        known.promisedAt ??= at;
        break;
      case 'started':
        this.#start(known, worker, atMs, at);
        break;
      case 'completed':
      case 'dead':
        this.#finish(known, type, worker, at);
        break;
      case 'failed':
      case 'released':
      case 'dead-letters-full':
        this.#checkEnd(known, type, worker, at);
        this.#endRun(known, worker);
        break;
      case 'ended':
      case 'lost':
        this.#endRun(known, worker);
        break;
      case 'redriven':
        this.#reopen(known, at);
        break;
      case 'forgotten':
      case 'discarded':
      case 'purged':
        this.#forget(known);
        break;
      case 'pending':
        known.pendingAt = at;
        if (this.#isFinished(known)) this.#reportFinished('settled', known, 'is listed as unfinished', at);
        break;
      case 'retry-after':
        this.#limits.pause(event.untilMs ?? atMs, at, known.key, known.id);
    }
  }

  #store(known: Known, isOverflow: boolean, worker: string, at: number): void {
    if (this.#isFinished(known) || known.isOpen) {
      const { finished, promisedAt = at } = known;
      this.#report('twice', `${nameOf(known)} was stored again.`, finished?.at ?? promisedAt, at);
      return;
    }
    known.promisedAt ??= at;
    known.finished = isOverflow ? { as: 'dead', at, worker } : undefined;
    let line = this.#lines.get(known.key);
    if (line === undefined) this.#lines.set(known.key, (line = { all: [], head: 0 }));
    known.place = line.all.length;
    line.all.push(known);
    if (!isOverflow) this.#open(known, at);
  }

  #start(known: Known, worker: string, atMs: number, at: number): void {
    const { key, id, finished, runs } = known;
    const mayBeOpen = finished === undefined || !this.#isFinished(known);
    if (finished !== undefined && mayBeOpen) this.#reopen(known, at);
    // Another worker may have claimed it before, and may not know yet.
    else if (finished?.worker === worker) this.#reportFinished('settled', known, 'was started', at);
    const other = this.#limits.isExclusive ? [...runs.values()][0] : undefined;
    const beganAt = runs.get(worker) ?? other;
    if (beganAt !== undefined)
      this.#report('running', `${nameOf(known)} was started while it was running.`, beganAt, at);
    if (mayBeOpen) this.#checkOrder(known, at);
    for (const pause of this.#limits.pausesAt(atMs, key, id)) {
      const earlyMs = String(pause.untilMs - atMs);
      this.#report('retry-after', `${nameOf(known)} was started ${earlyMs} ms too early.`, pause.at, at);
    }
    if (runs.has(worker)) return;
    runs.set(worker, at);
    let running = this.#runsOf.get(worker);
    if (running === undefined) this.#runsOf.set(worker, (running = new Set()));
    running.add(known);
    this.#exceeded(this.#limits.started(key, worker, atMs), known, at);
  }

  #finish(known: Known, as: 'completed' | 'dead', worker: string, at: number): void {
    this.#checkEnd(known, as, worker, at);
    this.#endRun(known, worker);
    if (known.isOpen) this.#limits.closed(known.key);
    known.isOpen = false;
    known.finished = { as, at, worker };
  }

  /** Whether a worker may end a run with this result. */
  #checkEnd(known: Known, as: string, worker: string, at: number): void {
    const { finished, runs } = known;
    const isAgain = this.#isFinished(known);
    if (isAgain && as === 'completed' && finished?.as === 'completed')
      this.#report('twice', `${nameOf(known)} was completed twice.`, finished.at, at);
    // The attempt of another worker may fail late.
    else if (isAgain && (as === 'completed' || as === 'dead' || finished?.worker === worker))
      this.#reportFinished('settled', known, `has the result ${as}`, at);
    if (runs.size === 0 || runs.has(worker)) return;
    const message = `${nameOf(known)} has the result ${as} of a worker that did not run it, while another did.`;
    this.#report('foreign', message, ...runs.values(), at);
  }

  #endRun(known: Known, worker: string): void {
    if (!known.runs.delete(worker)) return;
    this.#runsOf.get(worker)?.delete(known);
    this.#limits.ended(known.key, worker);
  }

  #checkOrder(known: Known, at: number): void {
    const line = this.#lines.get(known.key);
    if (line === undefined || known.place === undefined || !this.#limits.isOrdered(known.key)) return;
    const isOver = (one: Known | undefined): boolean => one !== undefined && !one.isOpen;
    while (isOver(line.all[line.head])) line.head += 1;
    const first = line.all[line.head];
    if (first?.place === undefined || first.place >= known.place) return;
    // A redriven delivery takes its place behind the head of the key.
    if (first.openedAt > known.openedAt) return;
    const message = `${nameOf(known)} was started before an earlier one was finished: ${nameOf(first)}.`;
    this.#report('order', message, first.promisedAt ?? at, at);
  }

  #open(known: Known, at: number): void {
    known.isOpen = true;
    known.openedAt = at;
    this.#exceeded(this.#limits.opened(known.key), known, at);
  }

  #reopen(known: Known, at: number): void {
    known.finished = undefined;
    known.promisedAt ??= at;
    if (!known.isOpen) this.#open(known, at);
    const line = this.#lines.get(known.key);
    if (line !== undefined && known.place !== undefined) line.head = Math.min(line.head, known.place);
  }

  #forget(known: Known): void {
    if (known.isOpen) this.#limits.closed(known.key);
    known.isOpen = false;
    known.finished = undefined;
    known.promisedAt = undefined;
  }

  /** Whether it is finished, and nothing says since then that it may be unfinished again. */
  #isFinished({ key, finished }: Known): boolean {
    if (finished === undefined) return false;
    return Math.max(this.#reopenedAt.get(null) ?? -1, this.#reopenedAt.get(key) ?? -1) < finished.at;
  }

  #compare({ counts = {}, worker }: HistoryEvent, at: number): void {
    for (const [type, reported] of Object.entries(counts)) {
      const counted = type === 'pending' ? this.#limits.unfinished : this.#countOf(type, worker);
      if (reported === counted) continue;
      this.#report(
        'totals',
        `${String(reported)} ${type} are reported, but ${String(counted)} happened.`,
        at,
      );
    }
  }

  #count(type: string, worker?: string): void {
    this.#counts.set(JSON.stringify([type, worker]), this.#countOf(type, worker) + 1);
  }

  #countOf(type: string, worker?: string): number {
    return this.#counts.get(JSON.stringify([type, worker])) ?? 0;
  }

  #exceeded(excesses: readonly Excess[], known: Known, at: number): void {
    for (const { rule, what } of excesses) this.#report(rule, `${nameOf(known)} makes ${what}.`, at);
  }

  #reportFinished(rule: HistoryRule, known: Known, what: string, at: number): void {
    const { finished } = known;
    if (finished === undefined) return;
    this.#report(rule, `${nameOf(known)} ${what} after its result ${finished.as}.`, finished.at, at);
  }

  #report(rule: HistoryRule, message: string, ...events: readonly number[]): void {
    this.#found.push({ rule, message, events });
  }

  #known(key: string, id: string): Known {
    let deliveries = this.#deliveries.get(key);
    if (deliveries === undefined) this.#deliveries.set(key, (deliveries = new Map<string, Known>()));
    const known = deliveries.get(id) ?? newDelivery(key, id);
    deliveries.set(id, known);
    return known;
  }
}
