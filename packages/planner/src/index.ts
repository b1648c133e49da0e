export { renderPage } from './output/page.ts';
export type { FleetResults } from './senders/observations.ts';
export type { Delays, InboxResults, KeyResults, Results } from './results/results.ts';
export { simulate } from './results/simulate.ts';
export type { Burst, Mode, PlannedSender, PlanRequest, ServiceTime } from './search/request.ts';
export { ScenarioError } from './scenario/fields.ts';
export type { ScenarioInboxOptions } from './scenario/inbox.ts';
export type {
  Balancing,
  FleetInput,
  Interval,
  ScenarioInput,
  SenderInput,
  ServiceInput,
} from './scenario/scenario-input.ts';
export { plan } from './search/make-plan.ts';
export type { PlanSettings } from './search/trials.ts';
export type {
  Axis,
  Configuration,
  Curves,
  Figures,
  Outcome,
  Plan,
  PlannedMode,
  PlannedOptions,
  PlannedRequest,
  PlannedRun,
  PlannedTime,
  Recommendation,
  Recovery,
  SenderOutcome,
  TriedConfiguration,
} from './search/plan.ts';
