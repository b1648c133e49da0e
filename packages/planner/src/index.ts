export { renderPage } from './page/page.ts';
export type { Results } from './results/results.ts';
export { simulate, type Simulation } from './results/simulate.ts';
export type { Burst, Mode, PlannedSender, PlanRequest, ServiceTime } from './request/plan-request.ts';
export { ScenarioError } from './scenario/fields.ts';
export type { Configuration, PlannedMode, PlannedOptions } from './search/configuration.ts';
export type { Axis, Curves } from './search/curves.ts';
export { plan, type PlanSettings } from './search/make-plan.ts';
export type { Figures, Outcome, SenderOutcome } from './search/outcome.ts';
export type {
  Plan,
  PlannedRequest,
  PlannedRun,
  PlannedTime,
  Recommendation,
  TriedConfiguration,
} from './search/plan.ts';
