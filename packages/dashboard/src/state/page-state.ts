import type {
  ObservedInboxSnapshot,
  ObservedIntakeSnapshot,
  ObservedOutboxSnapshot,
  Rate,
} from '@webhook-backpressure/observe';

/** What `GET state` answers, and, without `history`, each event `state` of `GET events`. JSON data. */
export interface PageState {
  /** The version of this format. */
  readonly version: 1;
  /** When this dashboard was created, in milliseconds since 1970. Another value than before: the process restarted. */
  readonly startedAt: number;
  /** When this state was read, in milliseconds since 1970. */
  readonly at: number;
  /** Whether options can be changed, and dead letters redriven and purged. */
  readonly allowUpdate: boolean;
  /** The intakes, by the name that `dashboard` got. */
  readonly intakes: Readonly<Record<string, IntakeView>>;
  /** The inboxes, by the name that `dashboard` got. */
  readonly inboxes: Readonly<Record<string, InboxView>>;
  /** The outboxes, by the name that `dashboard` got. */
  readonly outboxes: Readonly<Record<string, OutboxView>>;
  /** The last 100 changes, the oldest first. Only `GET state` has them. */
  readonly changes?: readonly Change[];
}

/** An intake on the page. */
export interface IntakeView {
  /** Its state and totals. */
  readonly snapshot: ObservedIntakeSnapshot;
  /** Deliveries per second, in the last second. */
  readonly rates: IntakeRates;
  /** Its last 15 minutes. */
  readonly history?: History;
}

/** An inbox on the page. */
export interface InboxView {
  /** Its state and totals. */
  readonly snapshot: ObservedInboxSnapshot;
  /** Deliveries per second, in the last second. */
  readonly rates: InboxRates;
  /** Its last 15 minutes. */
  readonly history?: History;
}

/** A sender on the page. */
export interface OutboxView {
  /** Its state and totals, and its 100 busiest endpoints. */
  readonly snapshot: ObservedOutboxSnapshot;
  /** Its counts per second, in the last second. */
  readonly rates: OutboxRates;
  /** Its last 15 minutes. */
  readonly history?: History;
}

/** What an intake did in the last second, in deliveries per second. */
export interface IntakeRates {
  /** Deliveries that arrived, refused ones included. */
  readonly arrivals: number;
  /** Deliveries whose handling began. */
  readonly started: number;
  /** Deliveries handled successfully. */
  readonly completed: number;
  /** Deliveries refused with 429 or 503. */
  readonly refused: number;
}

/** What an inbox did in the last second, in deliveries per second. */
export interface InboxRates {
  /** Deliveries that arrived, refused ones included. */
  readonly arrivals: number;
  /** Deliveries stored and acknowledged. */
  readonly stored: number;
  /** Deliveries handled successfully. */
  readonly completed: number;
  /** Deliveries refused with 429 or 503. */
  readonly refused: number;
}

/** The counts of a sender in the last second, per second. */
export interface OutboxRates {
  /** Events that were stored. */
  readonly accepted: number;
  /** Requests that were started. */
  readonly attempts: number;
  /** Events that were delivered. */
  readonly delivered: number;
  /** Requests after which the endpoint asked to wait. */
  readonly limited: number;
  /** Requests that failed otherwise. */
  readonly failed: number;
}

/** The last 15 minutes as columns of equal length: one value for each second, the oldest first. */
export interface History {
  /** When each value was read, in milliseconds since 1970. */
  readonly at: readonly number[];
  /** The columns by name. A value that was unknown is null. */
  readonly series: Readonly<Record<string, readonly (number | string | null)[]>>;
}

/** The event `change` of `GET events`: options that were changed, or what was done with dead letters or an endpoint. */
export interface Change {
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** What was changed. */
  readonly kind: 'intake' | 'inbox' | 'outbox';
  /** The name of the intake, inbox or sender. */
  readonly name: string;
  /** The options that were changed, with their new values. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** The action on dead letters, or on an endpoint. */
  readonly action?: 'redrive' | 'purge' | 'pause' | 'resume' | 'rate';
  /** How many dead letters were redriven or purged. */
  readonly count?: number;
  /** The id of the endpoint. */
  readonly endpoint?: string;
  /** The rate that was set; null for that of the settings. */
  readonly rate?: Rate | null;
}
