import { framesOfCaller, inBackground, shared } from '@webhook-backpressure/base';
import type { Intake } from '../intake/intake.ts';

/** The last middleware that was used where it was created. */
interface Last {
  isReused: boolean;
  hasWarned: boolean;
  readonly intake: Intake;
}

/** Further places are not watched, because the last intake of each is kept. Some runtimes have no WeakRef. */
const MAX_PLACES = 20;
const places = shared('first-uses', () => new Map<string, Last>());

/**
 * Notices a middleware that is created inside a handler, so that each request has a queue for itself. Such a middleware
 * gets a delivery in the same run of code in which it was created, and no other. One at start-up gets its first delivery
 * later; one that is created when it is first needed gets more. A second one at the same place is needed for a warning.
 */
export class FirstUse {
  readonly #intake: Intake;
  readonly #warn: (message: string) => void;
  #isNew = true;
  #last: Last | undefined;

  constructor(intake: Intake, warn: (message: string) => void) {
    this.#intake = intake;
    this.#warn = warn;
    inBackground(
      Promise.resolve().then(() => {
        this.#isNew = false;
      }),
    );
  }

  /** Notes a delivery. */
  note(): void {
    if (this.#last !== undefined) this.#last.isReused = true;
    if (!this.#isNew) return;
    this.#isNew = false;
    const { stack: place = '' } = new Error();
    const before = places.get(place);
    if (before === undefined && places.size >= MAX_PLACES) return;
    this.#last = {
      isReused: false,
      hasWarned: before?.hasWarned === true,
      intake: this.#intake,
    };
    places.set(place, this.#last);
    if (before === undefined || before.hasWarned || before.isReused || !isOpen(before.intake)) return;
    this.#last.hasWarned = true;
    const [line = ''] = framesOfCaller(place.split('\n').slice(1));
    this.#warn(
      `A middleware is created for each request (${line.trim()}), so each request has a queue for itself and nothing is ` +
        'limited. Create it once, outside of the handler.',
    );
  }
}

function isOpen(intake: Intake): boolean {
  const { state } = intake.snapshot();
  return state !== 'closing' && state !== 'closed';
}
