// What the simulation reports, the docs site and tests of this repository use. Imports nothing of Node. Not public, and changed in any release.
export { Agenda, Alarm } from './base/agenda.ts';
export { jain, percentile, stream } from './base/numbers.ts';
export { ScenarioError } from './scenario/fields.ts';
export { type Failure, parseHabit, profileHabit } from './scenario/habits.ts';
export { type Scenario, type Service, parseScenario } from './scenario/scenario.ts';
export type { Balancing } from './scenario/scenario-input.ts';
export { type Sender, senderNames } from './scenario/sender.ts';
export { Downstream, type Phase, phasesOf, runIdeal } from './traffic/downstream.ts';
export {
  type Traffic,
  drawTraffic,
  markOf,
  placesOf,
  startsPerSecondOf,
  workersOf,
} from './traffic/traffic.ts';
export { Endpoint } from './senders/endpoint.ts';
export { Observations, type Second } from './senders/observations.ts';
export { type Balanced, Balancer } from './runs/fleet.ts';
export { EventLoop } from './runs/receivers.ts';
export { run } from './runs/run.ts';
export { resultsOf } from './results/results.ts';
export { type Simulation, simulateAll as simulate } from './results/simulate.ts';
export { scale, type Scale } from './output/chart.ts';
export { plan } from './search/make-plan.ts';
export { chartsOf, figuresOf, reasonsOf, type SimulatedRun, triedOf } from './output/sections.ts';
export { codeOf, recommendedOf, titleOf } from './output/text.ts';
export { requestOf, UsageError } from './cli/request-texts.ts';
