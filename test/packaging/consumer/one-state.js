// What an ES module imports and a CommonJS one requires must be the same.
import { BackpressureError, createIntake, isProbed } from '@webhook-backpressure/core';
import { readiness, webhookBackpressure } from '@webhook-backpressure/express';
import required from './required.cjs';

/** @param {() => unknown} action */
function thrownBy(action) {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('It threw nothing.');
}

// The registry of probed intakes, which `closeOnSignals` reads.
const intake = createIntake();
required.express.readiness(intake);
const requiredIntake = required.core.createIntake();
readiness(requiredIntake);

const { BackpressureError: RequiredError } = required.core;
const { webhookBackpressure: requiredMiddleware } = required.express;
console.log(
  JSON.stringify({
    errors: [
      thrownBy(() => requiredMiddleware({ capacity: -1 })) instanceof BackpressureError,
      thrownBy(() => webhookBackpressure({ capacity: -1 })) instanceof RequiredError,
    ],
    registries: [isProbed(intake), required.core.isProbed(requiredIntake)],
  }),
);
