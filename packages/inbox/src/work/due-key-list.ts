import type { InboxState } from '../capacity/inbox-state.ts';

/** Keys of one page. */
const PAGE = 1000;
/** Keys whose next delivery is due later are found by a later list: there is one every few seconds. */
const HORIZON_MS = 60_000;
/** Lists do not follow each other faster, and take at most this part of the time. */
const LIST_EVERY_MS = 25;
const LIST_SHARE = 1 / 5;

/** Lists the keys in the store that have something due, a page at a time: other processes may have stored it. */
export class DueKeyList {
  readonly #inbox: InboxState;
  readonly #due: (key: string, atMs: number, nowMs: number) => void;
  #isWanted = true;
  #againMs = -Infinity;
  /** Where the list that is being read goes on. */
  #after: string | undefined;
  #tookMs = 0;

  /** @param due - called with the time when a delivery of the key is due, on the monotonic clock. */
  constructor(inbox: InboxState, due: (key: string, atMs: number, nowMs: number) => void) {
    this.#inbox = inbox;
    this.#due = due;
  }

  /** When the next page is to be read; Infinity: not before a call of {@link want}. */
  get nextMs(): number {
    if (!this.#isWanted && this.#after === undefined) return Infinity;
    // While the store fails, an idle inbox makes no other call that finds out whether it works again.
    return this.#inbox.health.isWell ? this.#againMs : -Infinity;
  }

  /** There may be keys that are not known. */
  want(): void {
    this.#isWanted = true;
  }

  async readPage(): Promise<void> {
    const { store, health, now, wall } = this.#inbox;
    const startedMs = now();
    if (this.#after === undefined) {
      this.#tookMs = 0;
      this.#isWanted = false;
    }
    try {
      const dueByMs = wall.trustedMs() + HORIZON_MS;
      const { keys, next } = await store.dueKeys({ after: this.#after, limit: PAGE, dueByMs });
      health.worked();
      const [nowMs, wallMs] = [now(), wall.trustedMs()];
      for (const { key, nextDueMs } of keys) this.#due(key, nowMs + Math.max(0, nextDueMs - wallMs), nowMs);
      this.#tookMs += nowMs - startedMs;
      const restMs = Math.max(LIST_EVERY_MS, this.#tookMs / LIST_SHARE);
      this.#againMs = next === undefined ? nowMs + restMs : nowMs;
      this.#after = next;
    } catch (error) {
      this.#isWanted = true;
      this.#after = undefined;
      throw error;
    }
  }
}
