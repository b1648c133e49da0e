import { BoundedIntake } from './bounded-intake.ts';
import type { Intake } from './intake.ts';
import { resolveOptions, type IntakeOptions } from './options.ts';

/**
 * Makes an intake.
 *
 * @throws BackpressureError with the code of the first option that is wrong.
 */
export function createIntake(options: IntakeOptions = {}): Intake {
  return new BoundedIntake(resolveOptions(options));
}
