import { Life } from './life.ts';

/** The orders of a sender process. */
export interface OutboxSettings {
  /** A file of SQLite, or a server of PostgreSQL. */
  readonly store: { readonly path: string } | { readonly connectionString: string; readonly schema?: string };
  /** The file to which it appends each step of `send`. */
  readonly log: string;
  /** A number that no other process of the test has. */
  readonly life: number;
  /** Where its endpoints are. */
  readonly url: string;
  readonly secret: string;
  /** How many endpoints it sends to. */
  readonly endpoints: number;
  /** Of each endpoint. */
  readonly maxInFlight: number;
  readonly capacity: number;
  /** Whether it sends nothing new, and delivers everything. */
  readonly isLast: boolean;
}

/** One life of a process that sends events. */
export class OutboxLife extends Life {
  constructor(settings: OutboxSettings) {
    super('outbox.js', settings);
  }

  /** Resolves to true when its store is open, to false when it died before. */
  async start(): Promise<boolean> {
    return (await this.next()) !== undefined;
  }

  /** Resolves to true when the last life has delivered everything, to false when it died before. */
  async drained(): Promise<boolean> {
    return (await this.next()) !== undefined;
  }
}
