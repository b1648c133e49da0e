// What the simulation reports and tests of this repository use. Not public, and changed in any release.
export { Agenda } from './base/agenda.ts';
export { Alarm } from './base/alarm.ts';
export { stream } from './base/random.ts';
export { jain, percentile } from './base/statistics.ts';
export { ScenarioError } from './scenario/fields.ts';
export { type Failure, parseHabit } from './scenario/habits.ts';
export { type Balancing, type Scenario, type Service, parseScenario } from './scenario/scenario.ts';
export { Downstream } from './traffic/downstream.ts';
export { runIdeal } from './traffic/ideal.ts';
export { type Traffic, drawTraffic } from './traffic/traffic.ts';
export { markOf, placesOf } from './traffic/workers.ts';
export { Observations } from './observations/observations.ts';
export type { Second } from './observations/series.ts';
export { type Balanced, Balancer } from './receivers/balancer.ts';
export { EventLoop } from './receivers/event-loop.ts';
export { run } from './runs/run.ts';
export { resultsOf } from './results/results.ts';
export { type Simulation, simulate } from './results/simulate.ts';
