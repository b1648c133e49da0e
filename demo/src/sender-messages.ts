/** The messages between the processes of the sender's demo. */

/**
 * - `fast`: answers immediately
 * - `limited`: the middleware in front of a handler that can do 200 a second
 * - `hanging`: never answers
 */
export type TargetKind = 'fast' | 'limited' | 'hanging';

export interface TargetOrders {
  /** Asks for `listening`. */
  start: { kind: TargetKind; secret: string };
  /** Asks for `looked`. */
  look: object;
}

export interface TargetReports {
  listening: { port: number };
  looked: TargetFigures;
}

/** The figures of a receiver. */
export interface TargetFigures {
  /** Distinct events whose handler was successful. */
  stored: number;
  /** Events whose handler was successful more than once. */
  repeated: number;
  requests: number;
}

export interface OutboxOrders {
  /** Asks for `warm`. */
  warmUp: { path: string; secret: string; target: OutboxTarget };
  /** Asks for `done`, when all events are delivered that can be, and the sender is closed. */
  import: { path: string; secret: string; targets: readonly OutboxTarget[] };
}

/** An endpoint, and how many events it gets. */
export interface OutboxTarget {
  kind: TargetKind;
  port: number;
  events: number;
}

export interface OutboxReports {
  /** How many seconds the warm-up took. */
  warm: { seconds: number };
  sample: OutboxSample;
  done: OutboxResult;
}

export interface OutboxSample {
  /** Events that are stored. */
  sent: number;
  endpoints: readonly EndpointFigures[];
}

/** An endpoint as the sender sees it. */
export interface EndpointFigures {
  kind: TargetKind;
  state: string;
  events: number;
  delivered: number;
  attempts: number;
  limited: number;
  failed: number;
  /** Milliseconds from `send` to the delivery; null when nothing was delivered. */
  latencyMs: { p50: number | null; p99: number | null };
  /** Until its last event was delivered; null while there are others. */
  seconds: number | null;
}

export interface OutboxResult {
  endpoints: readonly EndpointFigures[];
  /** Events that are still stored, after the sender was closed. */
  stored: number;
  /** Until all events were stored. */
  sentSeconds: number;
}
