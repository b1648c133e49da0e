/** What the processes of the demo send each other. */

export interface ReceiverOrders {
  start: { guarded: boolean; secret: string };
  /** Count from here. Asks for `counting`. */
  count: object;
  /** Asks for `finished`. */
  finish: object;
}

export interface ReceiverReports {
  listening: { port: number };
  /** Bytes. */
  counting: { rss: number };
  sample: ReceiverSample;
  finished: ReceiverTotals;
}

/** The receiver at one moment. */
export interface ReceiverSample {
  /** Deliveries that wait: in the queue of the middleware, without it for a connection. */
  depth: number;
  /** The middleware's numbers; null without it. */
  bound: { capacity: number; highWater: number; lowWater: number } | null;
  /** Let in: by the middleware, without it by the handler. */
  accepted: number;
  refused: number;
  /** Answered with 500. */
  failed: number;
}

/** The receiver after the last delivery. */
export interface ReceiverTotals {
  sample: ReceiverSample;
  deepest: number;
  /** Null without the middleware. */
  capacity: number | null;
  /** Distinct deliveries that are in the database. */
  stored: number;
  /** Bytes. */
  rss: number;
}

export interface InboxReceiverOrders {
  /** Port 0: any. Asks for `listening`. */
  start: { port: number; secret: string; inboxPath: string; databasePath: string };
  /** Asks for `looked`: what it has sent until then is older than the question. */
  look: object;
}

export interface InboxReceiverReports {
  listening: { port: number };
  /** Deliveries that are stored and unfinished. */
  sample: { depth: number };
  looked: object;
}

export interface FleetMemberOrders {
  /** Asks for `ready`. */
  start: FleetMemberOptions;
}

/** How a receiver or a worker of the fleet starts. */
export interface FleetMemberOptions {
  /** Of the database that holds the inbox. */
  connectionString: string;
  /** Where handlers note each delivery. */
  ledgerPath: string;
  secret: string;
  /** Where a receiver listens. */
  port: number;
}

export interface FleetMemberReports {
  /** It works, or listens. */
  ready: object;
}

/** Where the sender sends. */
export interface Target {
  /** Attempts take them in turn, as a balancer does. */
  urls: readonly string[];
  secret: string;
}

export interface SenderOrders {
  /** Asks for `warm`. */
  warmUp: Target;
  /** Asks for `done`. */
  import: Target & { deliveries: number; backoffMs: readonly number[] };
}

export interface SenderReports {
  /** How many seconds the warm-up took. */
  warm: { seconds: number };
  sample: SenderSample;
  done: SenderTotals;
}

export interface SenderSample {
  delivered: number;
  lost: number;
}

/** What the sender saw. */
export interface SenderTotals {
  deliveries: number;
  /** Answered with 2xx in the end. */
  delivered: number;
  /** Given up after the last attempt. */
  lost: number;
  attempts: number;
  /** The most that one delivery needed. */
  maxAttempts: number;
  /** The longest Retry-After, in seconds; 0 when there was none. */
  maxRetryAfter: number;
  /** How many attempts ended in what: a status, `timed out`, or `connection lost`. */
  answers: Record<string, number>;
  /** Milliseconds from the start of an attempt to its answer; attempts without an answer are not in here. */
  answerMs: Percentiles;
  /** The same for the answers alone that were not 2xx. */
  rejectionMs: Percentiles;
  /** Milliseconds from the first attempt to the answer that said it was delivered. */
  deliveryMs: Percentiles;
  /** From the first attempt until the last delivery was settled. */
  seconds: number;
}

export interface WatchedReceiverOrders {
  /** Port 0: any. Asks for `listening`. */
  start: { port: number };
}

export interface WatchedReceiverReports {
  listening: { port: number };
  /** The server could not listen on the port. */
  failed: { message: string };
}

export interface WaveOrders {
  /** Send to this origin until the end. */
  send: { origin: string };
}

/** Null when nothing was measured. */
export interface Percentiles {
  p50: number | null;
  p99: number | null;
}

/** A message as it travels. */
export type Message<Map> = { [Type in keyof Map]: { type: Type; body: Map[Type] } }[keyof Map];
