import { BackpressureError } from '@webhook-backpressure/base';
import type { InboxStore, OpenedStore, StoreEvent } from '@webhook-backpressure/inbox';
import type { Settings } from '../options.ts';
import { Server } from '../server/server.ts';
import { OpenStore } from './open-store.ts';

/** A store on a server. */
export function serverStore(settings: Settings): InboxStore {
  const { schema } = settings;
  let opening: Promise<OpenStore> | undefined;
  let current: OpenStore | undefined;
  // Rejects, as every other failure of a call does.
  const use = async <T>(work: (store: OpenStore) => Promise<T>): Promise<T> => {
    if (current === undefined) throw notOpen(`The store of the schema ${schema} is not open.`);
    return await work(current);
  };

  // Tells the workers of other processes.
  const announcing = async <T>(
    work: (store: OpenStore) => Promise<T>,
    isAnyDue: (result: T) => boolean,
  ): Promise<T> =>
    await use(async (store) => {
      const result = await work(store);
      if (isAnyDue(result)) store.announcements.due();
      return result;
    });
  let listener: (event: StoreEvent) => void = () => undefined;

  return {
    watch: (given) => {
      listener = given;
    },
    open: async (nowMs, options): Promise<OpenedStore> => {
      if (opening !== undefined)
        throw notOpen(
          `The store of the schema ${schema} is already open. Create a store for each inbox and each sender.`,
        );
      const server = new Server(settings, (event) => {
        listener(event);
      });
      opening = OpenStore.open(server, nowMs, options?.isOrdered);
      try {
        current = await opening;
        return await current.found();
      } catch (error) {
        const opened = current;
        current = undefined;
        opening = undefined;
        await (opened === undefined ? server.end() : opened.close(nowMs).catch(() => undefined));
        throw error;
      }
    },
    put: (batch, { limits, nowMs }) =>
      announcing(
        (store) => store.incoming.put(batch, limits, nowMs),
        (results) => results.includes('stored'),
      ),
    claim: (count, options) => use((store) => store.claims.claim(count, options)),
    claimKeys: (wants, lease) => use((store) => store.keyClaims.claim(wants, lease)),
    dueKeys: (page) => use((store) => store.keyClaims.due(page)),
    renew: (claims, lease) => use((store) => store.claims.renew(claims, lease)),
    settle: (settlements, nowMs) =>
      announcing(
        (store) => store.claims.settle(settlements, nowMs),
        () => settlements.some(({ as }) => as === 'released'),
      ),
    nextDueMs: (except) => use((store) => store.claims.nextDueMs(except)),
    hasten: (which) => use((store) => store.claims.hasten(which)),
    pause: (key) => use((store) => store.pauses.pause(key)),
    resume: (key) => announcing((store) => store.pauses.resume(key), Boolean),
    depthByKey: () => use((store) => store.levels.depthByKey()),
    stats: () => use((store) => store.levels.stats()),
    registry: { beat: (beat) => use((store) => store.registry.beat(beat)) },
    noteRoom: (room) => use((store) => store.levels.noteRoom(room)),
    listShelved: ({ limit, offset, ...scope }) =>
      use((store) => store.deadLetters.list(scope, limit, offset)),
    getShelved: (id, scope) => use((store) => store.deadLetters.get(id, scope)),
    countShelved: (id, scope) => use((store) => store.deadLetters.count(id, scope)),
    redrive: (id, { nowMs, ...which }) =>
      announcing(
        (store) => store.deadLetters.redrive(id, which, which, nowMs),
        ({ length }) => length > 0,
      ),
    purge: (id, { beforeMs, ...which }) =>
      use((store) => store.deadLetters.purge(id, which, which, beforeMs)),
    listPending: (query) => use((store) => store.pending.list(query)),
    getPending: (ref, nowMs) => use((store) => store.pending.get(ref, nowMs)),
    listCompleted: (query) => use((store) => store.completed.list(query)),
    getCompleted: (id, scope) => use((store) => store.completed.get(id, scope)),
    countCompleted: (id, scope) => use((store) => store.completed.count(id, scope)),
    replay: (id, { nowMs, ...which }) =>
      announcing(
        (store) => store.completed.replay(id, which, which, nowMs),
        ({ length }) => length > 0,
      ),
    dropCompleted: (which) => use((store) => store.completed.drop(which)),
    forget: (which) => use((store) => store.completed.forget(which)),
    forgetId: (ref) => use((store) => store.completed.forgetId(ref)),
    close: async (nowMs) => {
      await use(async (store) => {
        current = undefined;
        opening = undefined;
        await store.close(nowMs);
      });
    },
  };
}

function notOpen(sentence: string): BackpressureError {
  return new BackpressureError('ERR_WBP_POSTGRES_NOT_OPEN', sentence);
}
