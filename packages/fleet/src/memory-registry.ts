import type { Clock } from '@webhook-backpressure/base';
import { MEMBER_MS, type FleetBeat, type FleetRegistry, type FleetView } from './registry.ts';

interface Row {
  readonly atMs: number;
  readonly number: number;
  readonly state: string;
  readonly news: readonly { readonly atMs: number; readonly number: number; readonly text: string }[];
}

/**
 * Creates a registry in the memory of this process, for tests and simulations of fleets. It answers immediately.
 *
 * @param clock - the clock of the server.
 */
export function memoryRegistry(clock: Clock): FleetRegistry {
  return new MemoryRegistry(clock);
}

class MemoryRegistry implements FleetRegistry {
  readonly #clock: Clock;
  readonly #resources = new Map<string, Map<string, Row>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  beat({ resource, member, number, state, news, seen }: FleetBeat): FleetView {
    const now = this.#clock.now();
    // What is far ahead was written before the clock was set back.
    const isRecent = ({ atMs }: { readonly atMs: number }): boolean => Math.abs(now - atMs) < MEMBER_MS;
    const rows = this.#rowsOf(resource);
    const own = rows.get(member);
    if (own === undefined || number > own.number) {
      const added = news === '' ? [] : [{ atMs: now, number, text: news }];
      const kept = (own?.news ?? []).filter(isRecent);
      rows.set(member, { atMs: now, number, state, news: [...kept, ...added] });
    }
    for (const [id, row] of rows) if (!isRecent(row)) rows.delete(id);
    const others = [...rows].filter(([id]) => id !== member);
    return {
      members: [...rows].map(([id, row]) => ({
        member: id,
        ageMs: Math.max(0, now - row.atMs),
        state: row.state,
      })),
      news: others.flatMap(([id, row]) =>
        row.news
          .filter((one) => isRecent(one) && one.number > (seen[id] ?? 0))
          .map((one) => ({ member: id, number: one.number, news: one.text })),
      ),
    };
  }

  #rowsOf(resource: string): Map<string, Row> {
    const rows = this.#resources.get(resource) ?? new Map<string, Row>();
    this.#resources.set(resource, rows);
    return rows;
  }
}
