import type { IntakeEvent, IntakeSnapshot } from '@webhook-backpressure/core';
import { expect } from 'vitest';

type State = 'queued' | 'started' | 'ended';

/** Checks that the events of each delivery come in the order of its life. */
export class EventOrder {
  /** By sequence. */
  readonly #states = new Map<number, { state: State; key: string; isOverdue: boolean }>();

  #started = 0;
  /** Calls of `admit`. */
  arrivals = 0;

  /** @throws Error if the snapshot counts anything else than the events do. */
  check({ depth, totals }: IntakeSnapshot): void {
    const queued = [...this.#states.values()].filter(({ state }) => state === 'queued').length;
    const heard = { arrivals: this.arrivals, admitted: this.#states.size, started: this.#started, queued };
    const { arrivals, admitted, started } = totals;
    expect({ arrivals, admitted, started, queued: depth }).toEqual(heard);
  }

  /** @throws Error if the event cannot follow on those before it. */
  hear(event: IntakeEvent): void {
    if (!('sequence' in event)) return;
    const { type, sequence, key } = event;
    if (type === 'started') this.#started += 1;
    const known = this.#states.get(sequence);
    const complaint = `${type} of ${String(sequence)} after ${known?.state ?? 'nothing'}`;
    if (known === undefined) {
      if (type !== 'queued' && type !== 'started') throw new Error(complaint);
      if (sequence !== this.#states.size + 1) throw new Error(`${String(sequence)} is not the next number`);
      this.#states.set(sequence, { state: type, key, isOverdue: false });
      return;
    }
    if (known.key !== key) throw new Error(`${complaint}, with another key`);
    if (known.isOverdue && type !== 'completed') throw new Error(complaint);
    if (type === 'queued' || known.state === 'ended') throw new Error(complaint);
    if ((type === 'started' || type === 'withdrawn') !== (known.state === 'queued'))
      throw new Error(complaint);
    if (type === 'overdue') known.isOverdue = true;
    else known.state = type === 'started' ? 'started' : 'ended';
  }
}
