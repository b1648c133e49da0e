import type { FleetBeat, FleetRegistry, FleetView } from '@webhook-backpressure/fleet';
import { migrate } from '../schema/migrate.ts';
import type { Server } from '../server/server.ts';

interface Row {
  readonly member: string;
  /** 0: the state of the member. */
  readonly number: string | number;
  readonly age_ms: number;
  readonly content: string;
}

/** The registry in the schema of a server, which a store may use as well. */
export class ServerRegistry implements FleetRegistry {
  readonly #server: Server;
  #migrating: Promise<void> | undefined;

  constructor(server: Server) {
    this.#server = server;
  }

  async beat({ resource, member, number, state, news, seen }: FleetBeat): Promise<FleetView> {
    try {
      this.#migrating ??= migrate(this.#server);
      await this.#migrating;
      const rows = await this.#server.rows<Row>('fleet_beat_v1', [
        ...[resource, member, number, state, news, JSON.stringify(seen)],
      ]);
      const isState = (row: Row): boolean => Number(row.number) === 0;
      return {
        members: rows
          .filter(isState)
          .map((row) => ({ member: row.member, ageMs: row.age_ms, state: row.content })),
        news: rows
          .filter((row) => !isState(row))
          .map((row) => ({ member: row.member, number: Number(row.number), news: row.content })),
      };
    } catch (error) {
      // The tables may be created later, or may have been dropped.
      this.#migrating = undefined;
      throw error;
    }
  }
}
