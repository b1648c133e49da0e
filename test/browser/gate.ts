/** Holds every caller until it is open. */
export class Gate {
  #waiting: (() => void)[] = [];
  #isOpen = false;

  async pass(): Promise<void> {
    if (!this.#isOpen) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Lets the callers held now pass, and all later ones. */
  open(): void {
    this.#isOpen = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const pass of waiting) pass();
  }

  shut(): void {
    this.#isOpen = false;
  }
}
