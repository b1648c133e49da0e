// What `packages/fire`, the simulation reports, the docs site and tests of this repository use. Imports nothing of Node. Not
// public, and changed in any release.
export { Agenda, Alarm, Turns } from './base/agenda.ts';
export { jain, percentile, type Random, stream } from './base/numbers.ts';
export { ScenarioError } from './scenario/fields.ts';
export { type Failure, type Habit, parseHabit, profileHabit } from './scenario/habits.ts';
export { type Scenario, type Service, parseScenario } from './scenario/scenario.ts';
export type { Balancing } from './scenario/scenario-input.ts';
export { ASSUMED_TIMEOUT_MS, type Sender, senderNames } from './scenario/sender.ts';
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
export { duration, grouped } from './base/format.ts';
export * from './cli/values.ts';
export { renderTable } from './output/terminal.ts';
export { type Fate, Senders } from './senders/senders.ts';
export { LIMITS, type PlanRequest, type RequestedSender, readArriving } from './search/request.ts';
export { receiverOf, senderOf } from './search/trials.ts';
export { plan } from './search/make-plan.ts';
export { chartsOf, figuresOf, reasonsOf, type SimulatedRun, triedOf } from './output/sections.ts';
export { codeOf, recommendedOf, titleOf } from './output/text.ts';
export { requestOf } from './cli/request-texts.ts';
