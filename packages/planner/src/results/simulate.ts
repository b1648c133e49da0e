import { ScenarioError } from '../scenario/fields.ts';
import { runIdeal, type Ideal } from '../traffic/ideal.ts';
import type { Observations } from '../observations/observations.ts';
import { resultsOf, type Results } from './results.ts';
import { run } from '../runs/run.ts';
import type { Sampler } from '../observations/sampler.ts';
import { parseScenario, type Scenario } from '../scenario/scenario.ts';
import { drawTraffic, type Traffic } from '../traffic/traffic.ts';
import { Unsettled } from '../scenario/unsettled.ts';

/** Everything known about a run. */
export interface Simulation {
  readonly scenario: Scenario;
  readonly traffic: Traffic;
  readonly seen: Observations;
  readonly ideal: Ideal;
  readonly results: Results;
}

/** More attempts would take minutes; most likely the senders retry against an intake that never accepts. */
const MAX_ATTEMPTS = 200_000_000;

/**
 * Reads and runs a scenario. The same scenario with the same seed gives the same simulation.
 *
 * @param scenario - parsed JSON.
 * @throws ScenarioError at the first mistake in the scenario, or if the scenario does not settle.
 */
export async function simulate(
  scenario: unknown,
  sampler?: Sampler,
  maxAttempts: number = MAX_ATTEMPTS,
): Promise<Simulation> {
  const parsed = parseScenario(scenario);
  const traffic = drawTraffic(parsed);
  const seen = await run(parsed, traffic, maxAttempts, sampler).catch((error: unknown) => {
    if (!(error instanceof Unsettled)) throw error;
    throw new ScenarioError(
      `The scenario must settle within ${String(maxAttempts)} attempts, ` +
        `but ${String(error.open)} of its deliveries were still open.`,
    );
  });
  const ideal = runIdeal(parsed, traffic, Infinity);
  return { scenario: parsed, traffic, seen, ideal, results: resultsOf(parsed, traffic, seen, ideal) };
}
