/** The result of one window: above a limit, well below all limits, or neither. */
export type Level = 'over' | 'between' | 'calm';

/** How many consecutive windows must agree. */
const WINDOWS = 2;

/**
 * Whether there is pressure. Changes only after two consecutive windows with the same result. A single long pause, such
 * as a full collection or a large JSON body, is over before it is measured. And a load that drops as soon as it is
 * refused must not switch the result with every window.
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
