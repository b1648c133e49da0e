import type { Answer } from './answer.ts';
import type { ToolStore } from './target.ts';
import { age, bytes, printable, table, time } from './text.ts';

/** How much is stored, what is paused, and which processes have the store open. */
export async function status(store: ToolStore): Promise<Answer> {
  const { oldestReceivedAtMs: oldest, isPaused, pausedKeys, ...counts } = await store.stats();
  const owners = await store.owners();
  const { depth, inFlight, shelved, shelvedBytes, remembered, kept, keptBytes } = counts;
  const { name, value } = store.place;
  return {
    text: table(
      [name, printable(value)],
      [
        ['unfinished', `${String(depth)} (${bytes(counts.bytes)})`],
        ['in flight', String(inFlight)],
        ['oldest', oldest === undefined ? '-' : `${age(Date.now() - oldest)} ago`],
        ['dead letters', `${String(shelved)} (${bytes(shelvedBytes)})`],
        ['completed', `${String(kept)} (${bytes(keptBytes)})`],
        ['ids remembered', String(remembered)],
        [
          'paused',
          isPaused ? 'everything' : pausedKeys.length === 0 ? '-' : `${String(pausedKeys.length)} keys`,
        ],
        ...owners.map(({ sinceMs, where, hasEnded }): [string, string] => [
          'open since',
          `${time(sinceMs)} ${printable(where)}${hasEnded ? ', which has ended' : ''}`,
        ]),
      ],
    ),
    data: {
      [name]: value,
      ...counts,
      ...{ isPaused, pausedKeys },
      oldestReceivedAt: oldest === undefined ? null : time(oldest),
      owners: owners.map(({ sinceMs, hasEnded, data }) => ({
        ...data,
        since: time(sinceMs),
        isAlive: !hasEnded,
      })),
    },
  };
}
