import { createInbox, type Inbox, type InboxEvent, type InboxOptions } from '@webhook-backpressure/inbox';
import type pg from 'pg';
import { PostgresBed } from '../bed.ts';

/** An inbox on PostgreSQL whose handlers write to a table of the application. */
export class TransactionBed {
  readonly bed: PostgresBed = new PostgresBed({ isReused: true });
  readonly events: InboxEvent[] = [];
  readonly table: string = `${this.bed.schema}_effects`;
  inbox!: Inbox;

  async open(process: InboxOptions['process'], options: Partial<InboxOptions> = {}): Promise<this> {
    await this.bed.pool.query(`CREATE TABLE IF NOT EXISTS ${this.table} (id text NOT NULL)`);
    const retry = { firstDelayMs: 0, maxDelayMs: 0 };
    this.inbox = createInbox({ store: this.bed.store(), verify: false, process, retry, ...options });
    this.inbox.subscribe((event) => this.events.push(event));
    await this.inbox.opened;
    return this;
  }

  /** Runs a transaction on a client of the pool. */
  async transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.bed.pool.connect();
    try {
      await client.query('BEGIN');
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  }

  async effects(): Promise<readonly string[]> {
    const { rows } = await this.bed.pool.query<{ id: string }>(`SELECT id FROM ${this.table} ORDER BY id`);
    return rows.map(({ id }) => id);
  }

  /** The next event of one of these types. */
  next(...types: readonly InboxEvent['type'][]): Promise<InboxEvent> {
    return new Promise((resolve) => {
      const end = this.inbox.subscribe((event) => {
        if (!types.includes(event.type)) return;
        end();
        resolve(event);
      });
    });
  }

  /** The events of the ends of attempts. */
  ends(): readonly string[] {
    const types = ['completed', 'failed', 'dead', 'lost', 'released', 'overdue'];
    return this.events.filter(({ type }) => types.includes(type)).map(({ type }) => type);
  }

  async dispose(): Promise<void> {
    await this.inbox.close({ timeoutMs: 0 });
    await this.bed.pool.query(`DROP TABLE IF EXISTS ${this.table}`);
    await this.bed.dispose();
  }
}
