export { dashboard, type Dashboard } from './dashboard.ts';
export type { DashboardOptions } from './options/dashboard-options.ts';
export type {
  Change,
  History,
  InboxRates,
  InboxView,
  IntakeRates,
  IntakeView,
  PageState,
  OutboxRates,
  OutboxView,
} from './state/page-state.ts';
