/** What happens in each second of a run, and how deep the queue was. Second `s` is from `s` up to `s + 1`. */
export interface Second {
  /** First attempts. */
  arrivals: number;
  /** Second and later attempts. */
  returns: number;
  refusals: number;
  completions: number;
  /** Deliveries waiting, at the most. */
  depth: number;
  /** The sum of what the refused were told, in seconds. */
  retryAfterS: number;
}

/** Counts by the second. */
export class Series {
  readonly seconds: Second[] = [];
  #current = emptySecond(0);
  #currentIndex = -1;
  #depth = 0;

  at(nowMs: number): Second {
    const index = Math.floor(nowMs / 1000);
    if (index === this.#currentIndex) return this.#current;
    // What waits at the end of a second waits at the start of the next.
    for (let next = this.seconds.length; next <= index; next += 1) {
      this.#current = emptySecond(this.#depth);
      this.seconds.push(this.#current);
    }
    this.#currentIndex = index;
    return this.#current;
  }

  depth(depth: number, nowMs: number): void {
    const second = this.at(nowMs);
    this.#depth = depth;
    if (depth > second.depth) second.depth = depth;
  }
}

function emptySecond(depth: number): Second {
  return { arrivals: 0, returns: 0, refusals: 0, completions: 0, depth, retryAfterS: 0 };
}
