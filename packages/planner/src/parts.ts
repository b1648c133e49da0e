// What the simulation reports and tests of this repository use. Not public, and changed in any release.
export { Agenda, Alarm, Turns } from './base/agenda.ts';
export { jain, percentile, stream } from './base/numbers.ts';
export { ScenarioError } from './scenario/fields.ts';
export { type Failure, type Habit, parseHabit, profileHabit } from './scenario/habits.ts';
export { type Scenario, type Service, parseScenario } from './scenario/scenario.ts';
export type { Balancing } from './scenario/scenario-input.ts';
export type { Sender } from './scenario/sender.ts';
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
