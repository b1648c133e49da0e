/** A call of `send` that waits for room. */
interface WaitingSend {
  readonly bytes: number;
  readonly proceed: () => void;
  isOver: boolean;
}

/** The calls of `send` that wait for room, in order. A call that gave up is removed when its turn comes. */
export class SendQueue {
  #calls: WaitingSend[] = [];
  #head = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @returns a function that gives up; it returns whether the call was still waiting. */
  add(bytes: number, proceed: () => void): () => boolean {
    const call: WaitingSend = { bytes, proceed, isOver: false };
    this.#calls.push(call);
    this.#size += 1;
    return () => {
      if (call.isOver) return false;
      call.isOver = true;
      this.#size -= 1;
      return true;
    };
  }

  /** Lets calls proceed, the first ones first, as long as `fits` says so of each. */
  release(fits: (bytes: number) => boolean): void {
    for (let call = this.#first(); call !== undefined && fits(call.bytes); call = this.#first()) {
      this.#head += 1;
      this.#size -= 1;
      call.isOver = true;
      call.proceed();
    }
    // Copied rarely, so that each call costs O(1).
    if (this.#head > 1024 && this.#head * 2 > this.#calls.length) {
      this.#calls = this.#calls.slice(this.#head);
      this.#head = 0;
    }
  }

  #first(): WaitingSend | undefined {
    for (; this.#head < this.#calls.length; this.#head += 1) {
      const call = this.#calls[this.#head];
      if (call?.isOver === false) return call;
    }
    this.#calls = [];
    this.#head = 0;
    return undefined;
  }
}
