import { shared } from '@webhook-backpressure/base';
import type { Intake } from '../intake/intake.ts';

/** Holds the intakes that a request has been through. Every copy of this package uses the same symbol. */
const PASSED = Symbol.for('webhook-backpressure.passed');

interface Request {
  [PASSED]?: Intake | Set<Intake>;
}

/** Remembers which requests have been through an intake: a second permit for a request would wait for the first one. */
export interface Passed {
  has(request: object): boolean;
  add(request: object): void;
}

const { process } = globalThis as { process?: { versions?: { node?: string } } };
/**
 * A property is cheaper than an entry in a WeakSet, which takes 0.55 µs and has to be visited by the collector. But up to
 * Node 22 each of Express's requests has its own hidden class, and a further property costs it another one.
 */
const isPropertyCheap = Number.parseInt(process?.versions?.node ?? '24') >= 24;

const sets = shared('passed-sets', () => new WeakMap<Intake, WeakSet<object>>());

export function passedThrough(intake: Intake): Passed {
  if (isPropertyCheap) return marked(intake);
  const set = sets.get(intake) ?? new WeakSet();
  sets.set(intake, set);
  return set;
}

function marked(intake: Intake): Passed {
  return {
    has(request: Request) {
      const passed = request[PASSED];
      return passed === intake || (passed instanceof Set && passed.has(intake));
    },
    add(request: Request) {
      const passed = request[PASSED];
      if (passed === undefined) request[PASSED] = intake;
      else if (passed instanceof Set) passed.add(intake);
      else if (passed !== intake) request[PASSED] = new Set([passed, intake]);
    },
  };
}
