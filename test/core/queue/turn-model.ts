/**
 * The same order of turns in the simplest way: a list of keys in the order of their turns, and a list of deliveries for
 * each key. Slow, but obviously right.
 */
export class TurnModel<T extends { readonly key: string }> {
  readonly #turns: { readonly key: string; readonly items: T[] }[] = [];

  get size(): number {
    return this.#turns.reduce((sum, { items }) => sum + items.length, 0);
  }

  get keys(): number {
    return this.#turns.length;
  }

  get all(): T[] {
    return this.#turns.flatMap(({ items }) => items);
  }

  sizeOf(key: string): number {
    return this.#turns.find((turn) => turn.key === key)?.items.length ?? 0;
  }

  push(item: T): void {
    const turn = this.#turns.find(({ key }) => key === item.key);
    if (turn === undefined) this.#turns.push({ key: item.key, items: [item] });
    else turn.items.push(item);
  }

  /** The delivery that has to start next: the first of the first key, which then goes to the end. */
  shift(): T | undefined {
    const turn = this.#turns.shift();
    const item = turn?.items.shift();
    if (turn !== undefined && turn.items.length > 0) this.#turns.push(turn);
    return item;
  }

  /** The first delivery of the key, whenever its turn is. */
  firstOf(key: string): T | undefined {
    return this.#turns.find((turn) => turn.key === key)?.items[0];
  }

  remove(item: T): void {
    const at = this.#turns.findIndex(({ items }) => items.includes(item));
    const turn = this.#turns[at];
    if (turn === undefined) throw new Error('it is not in the queue');
    turn.items.splice(turn.items.indexOf(item), 1);
    if (turn.items.length === 0) this.#turns.splice(at, 1);
  }
}
