import { createIntake, type Admission } from '@webhook-backpressure/core';
import { PausedClock } from './paused-clock.ts';
import { idAt, type Run } from './runs.ts';

const DAY_MS = 86_400_000;

/** Admits and releases while `depth` deliveries of `keys` keys wait: each one passes through the whole queue. */
export function admitReleaseIn({ depth, keys }: { depth: number; keys: number }): Run {
  const clock = new PausedClock();
  const intake = createIntake({
    clock,
    concurrency: 1,
    capacity: 2 * depth + 10,
    maxWaitMs: DAY_MS,
    maxHandlingMs: DAY_MS,
  });
  const names = Array.from({ length: keys }, (_, i) => `key-${i.toString(36)}`);
  /** Of each key, its deliveries in the order of their admission, which is that of their starts. */
  const lines = new Map(names.map((key) => [key, new Ring<Admission>(Math.ceil(depth / keys) + 2)]));
  let running = '';
  intake.subscribe((event) => {
    if (event.type === 'started') running = event.key;
  });
  let admitted = 0;
  const admit = (key: string): void => {
    const admission = intake.admit({ key, id: idAt(admitted) });
    if (!admission.admitted) throw new Error(`It was refused: ${admission.reason}.`);
    admitted += 1;
    lines.get(key)?.push(admission);
  };
  for (let i = 0; i <= depth; i += 1) admit(names[i % keys] as string);

  return async (count) => {
    clock.go();
    for (let i = 0; i < count; i += 1) {
      const key = running;
      const permit = await lines.get(key)?.shift()?.permit;
      if (permit?.admitted !== true) throw new Error('It was withdrawn.');
      admit(key);
      permit.release();
    }
    clock.pause();
    if (intake.snapshot().depth !== depth) throw new Error('The depth has changed.');
  };
}

/** A queue in an array that is not moved. */
class Ring<T> {
  readonly #items: (T | undefined)[];
  #first = 0;
  #size = 0;

  constructor(capacity: number) {
    this.#items = new Array<T | undefined>(capacity).fill(undefined);
  }

  push(item: T): void {
    this.#items[(this.#first + this.#size) % this.#items.length] = item;
    this.#size += 1;
  }

  shift(): T | undefined {
    const item = this.#items[this.#first];
    this.#first = (this.#first + 1) % this.#items.length;
    this.#size -= 1;
    return item;
  }
}
