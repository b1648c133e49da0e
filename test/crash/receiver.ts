import type { AddressInfo } from 'node:net';
import { Life } from './life.ts';

export interface ReceiverSettings {
  readonly concurrency: number;
  readonly attempts: number;
  readonly maxHandlingMs: number;
}

/** Where a process fetches what it has missed. */
export interface ApiSettings {
  readonly url: string;
  readonly token: string;
  readonly hook: string;
  /** How much faster its clock is than that of the system, since `startMs`. */
  readonly speed: number;
  readonly startMs: number;
}

/** What a process gets. */
export interface LifeSettings extends ReceiverSettings {
  readonly role: 'both' | 'receiver' | 'worker';
  /** A file of SQLite, or a server of PostgreSQL. */
  readonly store: { readonly path: string } | { readonly connectionString: string; readonly schema?: string };
  /** The file to which handlers append. */
  readonly log: string;
  /** A number that no other process of the test has. */
  readonly life: number;
  /** How far its clock is ahead. Default: 0. */
  readonly aheadMs?: number;
  /** Default: it fetches nothing. */
  readonly api?: ApiSettings;
}

/** One life of a process that receives, works or both. */
export class Receiver extends Life {
  #port = 0;

  constructor(settings: LifeSettings) {
    super('receiver.js', settings);
  }

  get port(): number {
    return this.#port;
  }

  /** Resolves to true when it accepts deliveries, or is a worker; to false when it died before. */
  async start(): Promise<boolean> {
    const said = await this.next();
    if (said === undefined) return false;
    this.#port = (said as { address: AddressInfo | null }).address?.port ?? 0;
    return true;
  }

  /** Resolves to true when no delivery is unfinished, to false when it died before. */
  async drain(): Promise<boolean> {
    if (!this.isAlive) return false;
    this.ask('drain');
    return (await this.next()) !== undefined;
  }
}
