import type { ScenarioInput } from '../scenario/scenario-input.ts';
import type { Results } from './results.ts';
import { simulate as simulateAll } from './simulate.ts';

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
