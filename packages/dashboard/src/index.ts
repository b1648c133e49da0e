export type {
  Change,
  History,
  InboxRates,
  InboxView,
  IntakeRates,
  IntakeView,
  PageState,
} from './state/page-state.ts';
