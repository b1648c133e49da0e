import { createIntake, type Intake } from '@webhook-backpressure/core';
import type { Clock } from '@webhook-backpressure/base';
import type { Observations } from '../observations/observations.ts';
import { optionsUnder } from '../scenario/policy.ts';
import { stream } from '../base/random.ts';
import type { Scenario } from '../scenario/scenario.ts';

/** Creates the intake of a scenario, and counts how often its gate changes. */
export function intakeOf({ seed, policy, intake }: Scenario, clock: Clock, seen: Observations): Intake {
  const created = createIntake({ ...optionsUnder(policy, intake), clock, random: stream(seed, 'intake') });
  created.subscribe(({ type }) => {
    if (type === 'shedding' || type === 'accepting') seen.gateToggles += 1;
  });
  return created;
}
