export { renderPage } from './page/page.ts';
export { ScenarioError } from './scenario/fields.ts';
export type { Results } from './results/results.ts';
export { simulate, type Simulation } from './results/simulate.ts';
export type { Burst, Mode, PlannedSender, PlanRequest, ServiceTime } from './request/plan-request.ts';
export {
  plan,
  type Plan,
  type PlannedRequest,
  type PlannedRun,
  type PlannedTime,
  type PlanSettings,
  type Recommendation,
  type TriedConfiguration,
} from './search/plan.ts';
