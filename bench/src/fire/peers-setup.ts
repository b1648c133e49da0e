import { HANDLING_MS, SECRET, WORKERS } from './setup.ts';

/** As the report names them: no protection, four that users have instead of ours, and ours. */
export const PEERS = [
  'no protection',
  'express-queue',
  'p-limit by hand',
  'p-limit and a 429 by hand',
  'BullMQ and a 200',
  'middleware',
  'inbox',
] as const;
export type Peer = (typeof PEERS)[number];

/** A burst at a receiver. */
export interface Run {
  readonly peer: Peer;
  /** How Redis writes to the disk, if the receiver needs it: by its defaults, or by `appendfsync`. */
  readonly redis?: 'defaults' | 'everysec' | undefined;
  /** Whether the receiver and its Redis are killed with SIGKILL in the middle, and started again. */
  readonly isKilled?: boolean;
}
export const RUNS: readonly Run[] = [
  ...PEERS.map((peer): Run => (peer.startsWith('BullMQ') ? { peer, redis: 'defaults' } : { peer })),
  { peer: 'BullMQ and a 200', redis: 'defaults', isKilled: true },
  { peer: 'BullMQ and a 200', redis: 'everysec', isKilled: true },
  { peer: 'inbox', isKilled: true },
];

/** Where a receiver listens (0: any port), keeps its files, and finds Redis. */
export interface Place {
  readonly port: number;
  readonly folder: string;
  readonly redisPort: number;
}
/** In its folder: a line for each handled delivery, with the id and the time. It survives a SIGKILL. */
export const HANDLED = 'handled.log';

/** One that never retries, two with schedules, one that honors `Retry-After`. */
const MIXTURE = 'github:0.25,stripe:0.25,shopify:0.25,svix:0.25';
export const EVENTS = 1000;
export const BURST_S = 5;
/** The waits of the senders are divided by it: Stripe's first retry comes after 30 s. */
export const SPEED = 10;
export const BURST = [
  ...['--as', MIXTURE, '--secret', SECRET, '--speed', String(SPEED)],
  ...['--burst', `${String(EVENTS)}/${String(BURST_S * SPEED)}s`],
];
/** What is processed in 4 s, before the first sender hangs up: the operator of a peer has to know it. */
export const QUEUE = (4000 * WORKERS) / HANDLING_MS;
