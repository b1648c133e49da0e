import type { BullmqQueue } from '@webhook-backpressure/bullmq';

/** A queue without a server: the docs need none. */
function queueOf(over: object): BullmqQueue {
  const client = {
    status: 'ready',
    info: () => Promise.resolve('aof_enabled:1\r\nmaxmemory_policy:noeviction\r\n'),
    defineCommand: () => undefined,
    runCommand: () => Promise.resolve(['0', '0', '']),
    ...over,
  };
  const queue = {
    name: 'orders',
    client: Promise.resolve(client),
    addBulk: (jobs: { opts?: object }[]) =>
      Promise.resolve(jobs.map(({ opts }) => ({ id: (opts as { jobId: string }).jobId }))),
    getJobCounts: () => Promise.resolve({}),
    toKey: (part: string) => `bull:orders:${part}`,
  };
  return queue;
}

export const queues = {
  working: queueOf({}),
  disconnected: queueOf({ status: 'reconnecting' }),
  onPostgres: Object.assign(queueOf({}), { getBackend: () => ({}) }),
};
