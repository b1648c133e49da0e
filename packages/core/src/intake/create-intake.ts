import { BoundedIntake } from './bounded-intake.ts';
import type { Intake } from './intake.ts';
import { resolveOptions, type IntakeOptions } from './options.ts';

/**
 * Creates an intake.
 *
 * @throws BackpressureError with the code of the first invalid option.
 */
export function createIntake(options: IntakeOptions = {}): Intake {
  return new BoundedIntake(resolveOptions(options));
}
