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
  const resources = new Map<string, Map<string, Row>>();
  return {
    beat({ resource, member, number, state, news, seen }: FleetBeat): FleetView {
      const now = clock.now();
      // What is far ahead was written before the clock was set back.
      const isRecent = ({ atMs }: { readonly atMs: number }): boolean => Math.abs(now - atMs) < MEMBER_MS;
      const rows = resources.get(resource) ?? new Map<string, Row>();
      resources.set(resource, rows);
      const own = rows.get(member);
      if (own === undefined || number > own.number) {
        const added = news === '' ? [] : [{ atMs: now, number, text: news }];
        rows.set(member, {
          atMs: now,
          number,
          state,
          news: [...(own?.news ?? []).filter(isRecent), ...added],
        });
      }
      for (const [id, row] of rows) if (!isRecent(row)) rows.delete(id);
      const all = [...rows].map(([id, row]) => ({ member: id, ...row }));
      return {
        members: all.map((row) => ({
          member: row.member,
          ageMs: Math.max(0, now - row.atMs),
          state: row.state,
        })),
        news: all
          .filter((row) => row.member !== member)
          .flatMap((row) =>
            row.news
              .filter((one) => isRecent(one) && one.number > (seen[row.member] ?? 0))
              .map((one) => ({ member: row.member, number: one.number, news: one.text })),
          ),
      };
    },
  };
}
