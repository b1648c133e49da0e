/** What one window says: above a limit, clear of all limits, or neither. */
export type Level = 'over' | 'between' | 'calm';

/** So many windows in a row must agree. */
const WINDOWS = 2;

/**
 * Remembers whether there is pressure, and changes its mind only after two windows in a row that say the same. One
 * long pause, of a full collection or a large JSON, is over by the time it can be measured, and refusing anybody for
 * it would come too late. And a load that falls as soon as it is refused must not switch the door at every window.
 */
export class PressureLatch {
  #isPressed = false;
  #inRow = 0;

  get isPressed(): boolean {
    return this.#isPressed;
  }

  judge(level: Level): void {
    if (level !== (this.#isPressed ? 'calm' : 'over')) {
      this.#inRow = 0;
      return;
    }
    this.#inRow += 1;
    if (this.#inRow < WINDOWS) return;
    this.#isPressed = !this.#isPressed;
    this.#inRow = 0;
  }
}
