/** One side of a comparison: a server of `http/server-child.ts`, a side of `core/child.ts`, or one in `inbox`. */
export interface Side {
  /** The comparison that it was written for; sides are shared between comparisons. */
  readonly group: string;
  readonly side: string;
}

/** What is compared with what. */
export interface Comparison {
  readonly name: string;
  readonly ours: Side;
  readonly base: Side;
  /** What the base is, for the report. */
  readonly baseIs: string;
  /** Others on the same work, and with what each of them is compared. */
  readonly peers: readonly { readonly name: string; readonly side: Side; readonly base: Side }[];
  /** What the ratio is to reach. */
  readonly target?: number;
  /** What the rate of ours is to reach. */
  readonly targetRate?: number;
  /** What the time of ours may come to, in ms. */
  readonly targetMs?: number;
  /** `ms`: a time, of which less is better. */
  readonly unit?: 'ms';
  /** By how much each wait for the disk is delayed, on both sides. */
  readonly fsyncMs?: number;
  /** Of the deliveries; by default as they come. */
  readonly bodyBytes?: number;
}

function core(
  name: string,
  ours: string,
  base: string,
  rest: Omit<Comparison, 'name' | 'ours' | 'base' | 'peers'>,
) {
  return {
    name,
    ours: { group: 'core', side: ours },
    base: { group: 'core', side: base },
    peers: [],
    ...rest,
  };
}

export const coreComparisons: readonly Comparison[] = [
  core('core/admit-release', 'admit-release', 'p-limit', {
    baseIs: 'p-limit alone',
    target: 0.5,
    targetRate: 1e6 / 1.5,
  }),
  core('core/refuse', 'refuse', 'p-limit', { baseIs: 'p-limit alone', targetRate: 1e6 }),
  core('core/admit-release@depth=1e6', 'depth=1e6', 'depth=10', {
    baseIs: 'the same at depth 10',
    target: 1 / 3,
  }),
  core('core/admit-release@keys=1e5', 'keys=1e5', 'keys=10', {
    baseIs: 'the same with 10 keys',
    target: 1 / 3,
  }),
  core('core/recognize@profiles=2x', 'twice the profiles', 'built-in profiles', {
    baseIs: 'the same with the built-in profiles only',
    target: 0.9,
  }),
];

function pass(framework: string, peers: readonly string[], target?: number): Comparison {
  const group = `${framework}/pass`;
  const base = { group, side: 'without' };
  return {
    name: group,
    ours: { group, side: 'ours' },
    base,
    baseIs: 'without the middleware',
    peers: peers.map((name) => ({ name, side: { group, side: name }, base })),
    ...(target === undefined ? {} : { target }),
  };
}

function refuse(framework: string, target?: number): Comparison {
  const group = `${framework}/refuse`;
  return {
    name: group,
    ours: { group, side: 'ours' },
    base: { group, side: 'by hand' },
    baseIs: "the framework's own 429, written by hand",
    peers: [],
    ...(target === undefined ? {} : { target }),
  };
}

const express = pass(
  'express',
  ['empty middleware', 'p-limit', 'express-queue', 'express-rate-limit', 'overload-protection'],
  0.97,
);
const expressByHand: Side = { group: 'express/refuse', side: 'by hand' };

export const httpComparisons: readonly Comparison[] = [
  {
    ...express,
    peers: [
      ...express.peers,
      {
        name: 'under-pressure, in Fastify',
        side: { group: 'fastify/pass', side: 'under-pressure' },
        base: { group: 'fastify/pass', side: 'without' },
      },
    ],
  },
  pass('koa', ['empty middleware', 'p-limit', 'koa-ratelimit'], 0.93),
  pass('hono', ['empty middleware', 'p-limit', 'hono-rate-limiter'], 0.93),
  pass('node', ['p-limit']),
  {
    name: 'express/observed',
    ours: { group: 'express/observed', side: 'ours' },
    base: { group: 'express/observed', side: 'without' },
    baseIs: 'the middleware without metrics and page',
    peers: [],
    target: 0.97,
  },
  refuse('express', 0.95),
  refuse('koa'),
  refuse('hono', 0.8),
  refuse('web', 0.8),
  {
    name: 'front/refuse',
    ours: { group: 'front/refuse', side: 'ours' },
    base: expressByHand,
    baseIs: "Express's own 429, written by hand",
    peers: [{ name: 'bare node', side: { group: 'front/refuse', side: 'bare node' }, base: expressByHand }],
    target: 4,
  },
];

function inbox(
  name: string,
  base: string,
  rest: Pick<Comparison, 'baseIs' | 'unit' | 'target' | 'targetMs' | 'fsyncMs' | 'bodyBytes'>,
  peers: readonly string[],
) {
  const sideOf = (side: string): Side => ({ group: name, side });
  return {
    name,
    ours: sideOf('ours'),
    base: sideOf(base),
    peers: peers.map((peer) => ({ name: peer, side: sideOf(peer), base: sideOf(base) })),
    ...rest,
  };
}

function blocked(load: Pick<Comparison, 'fsyncMs' | 'bodyBytes'>) {
  return { baseIs: BY_HAND, unit: 'ms', targetMs: 30, ...load } as const;
}

const queues = ['plainjob', 'plainjob, FULL', 'liteque', 'liteque, FULL'];

const DRAINING = 'inbox/draining';
const BY_HAND = 'one insert per commit in bare node, written by hand';
const KIB = 1024;

export const inboxComparisons: readonly Comparison[] = [
  inbox('inbox/durable', 'by hand', { baseIs: 'one insert per commit, written by hand' }, queues),
  inbox('inbox/http', 'by hand', { baseIs: 'one insert per commit in bare node, written by hand' }, queues),
  inbox(DRAINING, 'idle', { baseIs: 'the same with nothing to process', unit: 'ms' }, []),
  inbox('inbox/connections', 'by hand', { baseIs: BY_HAND, target: 3 }, []),
  inbox('inbox/connections@fsync=10', 'by hand', { baseIs: BY_HAND, target: 20, fsyncMs: 10 }, []),
  inbox('inbox/connections@fsync=50', 'by hand', { baseIs: BY_HAND, target: 20, fsyncMs: 50 }, []),
  inbox('inbox/blocked@body=256KiB', 'by hand', blocked({ bodyBytes: 256 * KIB }), []),
  inbox('inbox/blocked@fsync=300', 'by hand', blocked({ fsyncMs: 300 }), []),
];

/** Those that take little time. */
export const quickInboxComparisons: readonly Comparison[] = inboxComparisons.filter(
  ({ name }) => name === 'inbox/durable' || name === 'inbox/http',
);

/** Memory, with the bytes that it may come to. */
export interface MemoryMeasure {
  readonly name: string;
  readonly measure: string;
  readonly limit: number;
  readonly what: string;
  readonly peers: readonly { readonly name: string; readonly measure: string }[];
}

const MIB = KIB ** 2;

export const memoryMeasures: readonly MemoryMeasure[] = [
  {
    name: 'memory/refusals',
    measure: 'refusals',
    limit: 5 * MIB,
    what: 'growth of the heap after 5,000,000 refusals',
    peers: [],
  },
  {
    name: 'memory/keys',
    measure: 'keys',
    limit: 5 * MIB,
    what: 'growth of the heap after 1,000,000 keys',
    peers: [],
  },
  {
    name: 'memory/observed-keys',
    measure: 'observed keys',
    limit: 5 * MIB,
    what: 'growth of the heap after 1,000,000 keys, with metrics by key and an open page',
    peers: [],
  },
  {
    name: 'memory/waiting',
    measure: 'waiting',
    limit: 1024,
    what: 'heap of each of 100,000 waiting deliveries',
    peers: [{ name: 'p-limit', measure: 'waiting:p-limit' }],
  },
  {
    name: 'memory/stored',
    measure: 'stored',
    limit: 32 * MIB,
    what: 'growth of the process from 10,000 to 1,000,000 stored deliveries',
    peers: [],
  },
];
