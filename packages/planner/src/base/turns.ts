/** Of the work after an event, the first turn may only schedule the next. */
const LEAST = 2;

/**
 * Lets promises and immediates settle between two events of a run, so that all consequences of one come before the
 * next.
 */
export class Turns {
  #isActive = false;

  /** Call it for anything that may be followed by more work in a later turn. */
  note(): void {
    this.#isActive = true;
  }

  /** Resolves after a turn in which nothing happened. */
  async settle(): Promise<void> {
    for (let turn = 1; turn <= LEAST || this.#isActive; turn += 1) {
      this.#isActive = false;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
