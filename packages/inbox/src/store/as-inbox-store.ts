import { BackpressureError } from '@webhook-backpressure/base';
import type { InboxStore, OpenedStore, StoreStats } from './inbox-store.ts';
import type { ReceivingStats, ReceivingStore } from './receiving-store.ts';

/** Calls of an {@link InboxStore} that a store for receivers alone may lack, because they belong to workers or operators. */
const REFUSED = [
  ...(['claim', 'claimKeys', 'dueKeys', 'renew', 'settle', 'nextDueMs', 'hasten'] as const),
  ...(['pause', 'resume', 'depthByKey'] as const),
  ...(['listDeadLetters', 'scanDeadLetters', 'getDeadLetter', 'countDeadLetters'] as const),
  ...(['redrive', 'purge', 'noteRoom'] as const),
  ...(['listPending', 'getPending', 'listCompleted', 'getCompleted', 'countCompleted'] as const),
  ...(['replay', 'dropCompleted', 'forget', 'forgetId'] as const),
];

/** Whether a store has every call, so that operators can use it. */
export function isInboxStore(store: ReceivingStore): store is InboxStore {
  return REFUSED.every((call) => typeof (store as Partial<InboxStore>)[call] === 'function');
}

/** The store itself if it has every call; else one that throws `ERR_WBP_ROLE` for those that the given one lacks. */
export function asInboxStore(store: ReceivingStore): InboxStore {
  if (isInboxStore(store)) return store;
  const refused = Object.fromEntries(
    REFUSED.map((call) => [
      call,
      (store as Partial<InboxStore>)[call]?.bind(store) ??
        (() => {
          throw new BackpressureError(
            'ERR_WBP_ROLE',
            'The store only receives deliveries, so this inbox cannot list, redrive, replay, purge or pause any.',
          );
        }),
    ]),
  ) as unknown as InboxStore;
  return {
    ...refused,
    registry: store.registry,
    watch: (listener) => {
      store.watch?.(listener);
    },
    open: async (nowMs): Promise<OpenedStore> => {
      const { depthByKey = new Map<string, number>(), ...stats } = await store.open(nowMs);
      return { ...fullStats(stats), depthByKey };
    },
    put: (batch, options) => store.put(batch, options),
    ...(store.putIn !== undefined && { putIn: store.putIn.bind(store) }),
    stats: async () => fullStats(await store.stats()),
    depthByKey: () => store.depthByKey?.() ?? new Map<string, number>(),
    close: (nowMs) => store.close(nowMs),
  };
}

function fullStats(stats: ReceivingStats): StoreStats {
  const {
    depth,
    bytes,
    drained,
    inFlight = 0,
    oldestReceivedAtMs,
    deadLetters = 0,
    deadLetterBytes = 0,
  } = stats;
  const { retained = 0, retainedBytes = 0, isPaused = false, pausedKeys = [] } = stats;
  return {
    depth,
    bytes,
    drained,
    inFlight,
    oldestReceivedAtMs,
    deadLetters,
    deadLetterBytes,
    remembered: 0,
    retained,
    retainedBytes,
    isPaused,
    pausedKeys,
  };
}
