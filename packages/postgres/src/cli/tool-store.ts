import type { DeliveryRef } from '@webhook-backpressure/inbox';
import type { ToolOwner, ToolStore } from '@webhook-backpressure/inbox/tool';
import { Completed } from '../finished/completed.ts';
import { DeadLetters } from '../finished/dead-letters.ts';
import { Levels } from '../queue/levels.ts';
import { Pauses } from '../queue/pauses.ts';
import { Pending } from '../queue/pending.ts';
import { idHash } from '../records/id-hash.ts';
import { decodeText, encodeText } from '../records/text.ts';
import { announce } from '../server/announcements.ts';
import { LOCK } from '../server/presence.ts';
import type { Server } from '../server/server.ts';

/** Contents have no index on ids, which only the tool would use, so they are read in parts. */
const SCANNED = 50_000;

/** The schema of an inbox, as the tool uses it: without an owner, because the tool claims nothing. */
export function toolStore(server: Server): ToolStore {
  const { schema } = server;
  const deadLetters = new DeadLetters(server);
  const pending = new Pending(server);
  const pauses = new Pauses(server);
  const completed = new Completed(server);
  const levels = new Levels(server);
  const announcing = async <T>(work: Promise<T>, isAnyDue: (result: T) => boolean): Promise<T> => {
    const result = await work;
    if (isAnyDue(result)) await announce(server);
    return result;
  };
  const isAny = ({ length }: readonly unknown[]): boolean => length > 0;
  return {
    place: { name: 'schema', value: schema },
    stats: () => levels.stats(),
    listShelved: ({ limit, offset, ...scope }) => deadLetters.list(scope, limit, offset),
    getShelved: (id, scope) => deadLetters.get(id, scope),
    countShelved: (id, scope) => deadLetters.count(id, scope),
    redrive: (id, { nowMs, ...which }) => announcing(deadLetters.redrive(id, which, which, nowMs), isAny),
    purge: (id, { beforeMs, ...which }) => deadLetters.purge(id, which, which, beforeMs),
    listPending: (query) => pending.list(query),
    getPending: (ref, nowMs) => pending.get(ref, nowMs),
    listCompleted: (query) => completed.list(query),
    getCompleted: (id, scope) => completed.get(id, scope),
    countCompleted: (id, scope) => completed.count(id, scope),
    replay: (id, { nowMs, ...which }) => announcing(completed.replay(id, which, which, nowMs), isAny),
    forgetId: (ref) => completed.forgetId(ref),
    pause: (key) => pauses.pause(key),
    resume: (key) => announcing(pauses.resume(key), Boolean),
    keysOf: (id) => keysOf(server, id),
    isRemembered: (ref) => isRemembered(server, ref),
    room: async () => {
      const [row] = await server.query<{ depth: number | null; bytes: number | null }>(
        `SELECT room_depth AS depth, room_bytes AS bytes FROM ${schema}.meta`,
      );
      const { depth, bytes } = row ?? {};
      return typeof depth === 'number' && typeof bytes === 'number' ? { depth, bytes } : undefined;
    },
    owners: () => ownersOf(server),
    close: () => server.end(),
  };
}

async function keysOf(server: Server, id: string): Promise<readonly string[]> {
  const keys = new Set<string>();
  for (let after: string | null = '0'; after !== null;) {
    const [part]: readonly { last: string | null; keys: string[] | null }[] = await server.query(
      `SELECT max(seq)::text AS last, array_agg(DISTINCT key) FILTER (WHERE id = $1) AS keys
      FROM (SELECT seq, key, id FROM ${server.schema}.contents WHERE seq > $2::bigint ORDER BY seq LIMIT ${String(SCANNED)}) p`,
      [encodeText(id), after],
    );
    for (const key of part?.keys ?? []) keys.add(decodeText(key));
    after = part?.last ?? null;
  }
  return [...keys].sort();
}

async function isRemembered(server: Server, ref: DeliveryRef): Promise<boolean> {
  const rows = await server.query(
    `SELECT 1 FROM ${server.schema}.ids WHERE hash = $1 AND completed_ms IS NOT NULL`,
    [idHash(ref)],
  );
  return rows.length > 0;
}

/** Stores hold a lock in a session while they are open, unless they run behind a pool of connections. */
async function ownersOf(server: Server): Promise<readonly ToolOwner[]> {
  const rows = await server.query<{ owner: number; address: string | null; application: string; at: number }>(
    `SELECT l.objid::bigint::double precision AS owner, host(a.client_addr) AS address,
      coalesce(a.application_name, '') AS application,
      (extract(epoch FROM coalesce(a.backend_start, clock_timestamp())) * 1000)::double precision AS at
    FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND l.classid::bigint = ${LOCK}::bigint & 4294967295 ORDER BY owner`,
    [server.schema],
  );
  return rows.map(({ owner, address, application, at }) => ({
    sinceMs: server.skew.fromServer(at),
    where: `by owner ${String(owner)}, connected from ${address ?? 'a local socket'}${application === '' ? '' : ` as ${application}`}`,
    hasEnded: false,
    data: { owner, address: address ?? '', application },
  }));
}
