import type { Sampler } from '../runs/receivers.ts';
import { run } from '../runs/run.ts';
import { ScenarioError } from '../scenario/fields.ts';
import type { ScenarioInput } from '../scenario/scenario-input.ts';
import { parseScenario, type Scenario } from '../scenario/scenario.ts';
import type { Observations } from '../senders/observations.ts';
import { Unsettled } from '../senders/senders.ts';
import { runIdeal, type Ideal } from '../traffic/downstream.ts';
import { drawTraffic, type Traffic } from '../traffic/traffic.ts';
import { resultsOf, type Results } from './results.ts';

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
export async function simulateAll(
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

/**
 * Runs a scenario on the simulated clock until each delivery is handled or given up by its sender. The same scenario with
 * the same seed gives the same results. Hours of traffic take seconds, in which it blocks the thread.
 *
 * @param scenario - plain JSON, such as the parsed content of a scenario file.
 * @throws ScenarioError at the first mistake in the scenario, or if the deliveries are not settled after 200 million
 * attempts.
 */
export async function simulate(scenario: ScenarioInput): Promise<Results> {
  const { results } = await simulateAll(scenario);
  return results;
}
