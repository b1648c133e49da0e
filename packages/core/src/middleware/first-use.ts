import { framesOfCaller, inBackground, shared } from '@webhook-backpressure/base';
import type { Intake } from '../intake/intake.ts';

/** The middleware that were used where they were created, at one place of the code. */
interface Place {
  created: number;
  /** One of them got a second delivery, so it was kept. */
  hasKept: boolean;
  last: Intake;
}

/** Further places are not watched, because the last intake of each is kept. Some runtimes have no WeakRef. */
const MAX_PLACES = 20;
/** So many may be kept before one is used again, such as one for each tenant, or be created by tests. */
const MANY = 20;
const places = shared('first-uses', () => new Map<string, Place>());

/**
 * Notices a middleware that is created inside a handler, so that each request has a queue for itself. Such a middleware
 * gets a delivery in the same run of code in which it was created, and no other. One at start-up gets its first delivery
 * later; one that is created when it is first needed gets more.
 */
export class FirstUse {
  readonly #intake: Intake;
  readonly #warn: (message: string) => void;
  #isNew = true;
  #place: Place | undefined;

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
    if (this.#place !== undefined) this.#place.hasKept = true;
    if (!this.#isNew) return;
    this.#isNew = false;
    const frames = framesHere();
    const name = frames.join('\n');
    const place = places.get(name) ?? { created: 0, hasKept: false, last: this.#intake };
    if (frames.length === 0 || (place.created === 0 && places.size >= MAX_PLACES)) return;
    places.set(name, place);
    const wasOpen = isOpen(place.last);
    place.created = wasOpen ? place.created + 1 : 1;
    place.last = this.#intake;
    this.#place = place;
    if (place.created !== MANY || place.hasKept) return;
    const [line = ''] = framesOfCaller(frames);
    this.#warn(
      `A middleware is created for each request (${line.trim()}), so each request has a queue for itself and nothing is ` +
        'limited. Create it once, outside of the handler.',
    );
  }
}

/** The stack; empty where a program has turned it off, or replaced what makes it. */
function framesHere(): readonly string[] {
  try {
    return new Error().stack?.split('\n').slice(1) ?? [];
  } catch {
    return [];
  }
}

function isOpen(intake: Intake): boolean {
  const { state } = intake.snapshot();
  return state !== 'closing' && state !== 'closed';
}
