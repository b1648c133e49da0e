/** The events of one second of a run. Second `s` is [s, s + 1). */
export interface Second {
  /** First attempts. */
  arrivals: number;
  /** Second and later attempts. */
  retries: number;
  refusals: number;
  completions: number;
  /** The maximum number of queued deliveries. */
  depth: number;
  /** The sum of Retry-After over all refusals. */
  retryAfterS: number;
}

/** Counts events per second. */
export class Series {
  readonly seconds: Second[] = [];
  #current = emptySecond(0);
  #currentIndex = -1;
  #depth = 0;

  at(nowMs: number): Second {
    const index = Math.floor(nowMs / 1000);
    if (index === this.#currentIndex) return this.#current;
    // A second starts with the depth at the end of the previous one.
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
  return { arrivals: 0, retries: 0, refusals: 0, completions: 0, depth, retryAfterS: 0 };
}
