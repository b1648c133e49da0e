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
  SenderRates,
  SenderView,
} from './state/page-state.ts';
