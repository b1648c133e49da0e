export { renderPage } from './page/page.ts';
export type { FleetResults } from './observations/fleet-results.ts';
export type { KeyResults } from './results/key-results.ts';
export type { Delays, InboxResults, Results } from './results/results.ts';
export { simulate } from './results/simulate-scenario.ts';
export type { Burst, Mode, PlannedSender, PlanRequest, ServiceTime } from './request/plan-request.ts';
export { ScenarioError } from './scenario/fields.ts';
export type { ScenarioInboxOptions } from './scenario/inbox.ts';
export type { Balancing, Interval } from './scenario/scenario.ts';
export type { FleetInput, ScenarioInput, SenderInput, ServiceInput } from './scenario/scenario-input.ts';
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
