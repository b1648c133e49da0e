import type { ToolOwner, ToolStore } from '@webhook-backpressure/inbox/tool';
import type { Connection } from '../connection/connection.ts';
import { isAlive } from '../file/owner-lock.ts';
import { CompletedIds } from '../finished/completed-ids.ts';
import { CompletedDeliveries } from '../finished/completed.ts';
import { DeadLetters } from '../finished/dead-letters.ts';
import { Pending } from '../queue/pending.ts';
import { Pauses } from '../tables/pauses.ts';
import { Totals } from '../tables/totals.ts';

type OwnerRow = readonly [id: number, pid: number, host: string, sinceMs: number];

/** The file of an inbox, as the tool uses it: without an owner, because the tool claims nothing. */
export function toolStore(connection: Connection): ToolStore {
  const totals = new Totals(connection);
  const completedIds = new CompletedIds(connection, totals);
  const deadLetters = new DeadLetters(connection, totals);
  const pending = new Pending(connection);
  const pauses = new Pauses(connection);
  const completed = new CompletedDeliveries(connection, totals, completedIds);
  return {
    place: { name: 'file', value: connection.path },
    stats: () => ({ ...totals.stats(), ...pauses.stats() }),
    listShelved: ({ limit, offset, ...scope }) => deadLetters.list(scope, limit, offset),
    getShelved: (id, scope) => deadLetters.get(id, scope),
    countShelved: (id, scope) => deadLetters.count(id, scope),
    redrive: (id, { nowMs, ...which }) => deadLetters.redrive(id, which, which, nowMs),
    purge: (id, { beforeMs, ...which }) => deadLetters.purge(id, which, which, beforeMs),
    listPending: (query) => pending.list(query),
    getPending: (ref, nowMs) => pending.get(ref, nowMs),
    listCompleted: (query) => completed.list(query),
    getCompleted: (id, scope) => completed.get(id, scope),
    countCompleted: (id, scope) => completed.count(id, scope),
    replay: (id, { nowMs, ...which }) => completed.replay(id, which, which, nowMs),
    forgetId: (ref) =>
      totals.transaction((changes) => {
        const wasKept = completed.remove(ref.key, ref.id, changes);
        return completedIds.remove(ref, changes) || wasKept;
      }),
    pause: (key) => pauses.pause(key),
    resume: (key) => pauses.resume(key),
    keysOf: (id) => pending.keysOf(id),
    isRemembered: (ref) => completedIds.has(ref),
    room: () => totals.room(),
    owners: () => {
      const rows = connection.prepare('SELECT id, pid, host, since_ms FROM owners').all([]) as OwnerRow[];
      return rows.map(([id, pid, host, sinceMs]): ToolOwner => ({
        sinceMs,
        where: `in process ${String(pid)} on ${host}`,
        hasEnded: !isAlive(connection.location, id),
        data: { pid, host },
      }));
    },
    close: () => {
      connection.close();
    },
  };
}
