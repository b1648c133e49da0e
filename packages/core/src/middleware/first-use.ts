import { framesOfCaller, shared, systemClock } from '@webhook-backpressure/base';

/** Where a middleware or an inbox keeps its deliveries. */
interface Kept {
  snapshot(): { readonly state: string };
}

/** Those that were used where they were created, at one place of the code. */
interface Place {
  created: number;
  /** One of them got a second delivery, so it was kept. */
  hasKept: boolean;
  last: Kept;
}

/** Further places are not watched, because the last intake of each is kept. Some runtimes have no WeakRef. */
const MAX_PLACES = 20;
/** So many may be kept before one is used again, such as one for each tenant, or be created by tests. */
const MANY = 20;
const places = shared('first-uses', () => new Map<string, Place>());

/**
 * Notices a middleware or an inbox that is created inside a handler, so that each request has its own. Such a one gets a
 * delivery in the same turn of the event loop in which it was created, and no other. One at start-up gets its first
 * delivery later; one that is created when it is first needed gets more.
 */
export class FirstUse {
  readonly #kept: Kept;
  readonly #warn: (line: string) => void;
  readonly #frames = framesHere();
  #isNew = true;
  #place: Place | undefined;

  /** @param warn - called with the line that creates them. */
  constructor(kept: Kept, warn: (line: string) => void) {
    this.#kept = kept;
    this.#warn = warn;
    systemClock.setTimeout(() => {
      this.#isNew = false;
    }, 0);
  }

  /** Notes a delivery. */
  note(): void {
    if (this.#place !== undefined) this.#place.hasKept = true;
    if (!this.#isNew) return;
    this.#isNew = false;
    const name = this.#frames.join('\n');
    const place = places.get(name) ?? { created: 0, hasKept: false, last: this.#kept };
    if (name === '' || (place.created === 0 && places.size >= MAX_PLACES)) return;
    places.set(name, place);
    const wasOpen = isOpen(place.last);
    place.created = wasOpen ? place.created + 1 : 1;
    place.last = this.#kept;
    this.#place = place;
    if (place.created !== MANY || place.hasKept) return;
    const [line = ''] = framesOfCaller(this.#frames);
    this.#warn(line.trim());
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

function isOpen(kept: Kept): boolean {
  const { state } = kept.snapshot();
  return state !== 'closing' && state !== 'closed';
}
