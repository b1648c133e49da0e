import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { chanceOf } from './chance.ts';
import type { HistoryEvent } from '@webhook-backpressure/core/testing';
import { type Around, historyOf, type Ref, type Step } from './handler-log.ts';
import { OutboxLife, type OutboxSettings } from './outbox-life.ts';
import { SlowEndpoint } from './slow-endpoint.ts';

export interface OutboxPlan {
  readonly store: OutboxSettings['store'];
  readonly log: string;
  readonly kills: number;
  readonly seed: number;
  /** How many senders share the store at a time. */
  readonly processes: number;
}

export interface OutboxOutcome {
  readonly endpoint: SlowEndpoint;
  /** Events whose `send` resolved. */
  readonly accepted: readonly Ref[];
}

const ENDPOINTS = 4;
const IN_FLIGHT = 10;
/** Small enough that `send` waits for room most of the time. */
const CAPACITY = 200;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
/** A life ends after at most this many requests and then this many milliseconds. */
const MAX_REQUESTS = 150;
const MAX_LATER_MS = 10;

/** Kills senders at random moments while they send, and lets the last life deliver everything. */
export async function crashOutbox(plan: OutboxPlan): Promise<OutboxOutcome> {
  const { store, log, kills, seed, processes } = plan;
  const chance = chanceOf(seed);
  const endpoint = new SlowEndpoint(SECRET, chance);
  const url = await endpoint.listen();
  const settings = { store, log, url, secret: SECRET, endpoints: ENDPOINTS, maxInFlight: IN_FLIGHT };
  const begin = (life: number, isLast: boolean): OutboxLife =>
    new OutboxLife({ ...settings, capacity: CAPACITY, life, isLast });
  const alive: OutboxLife[] = [];
  const killOldest = async (): Promise<void> => {
    const victim = alive.shift();
    if (victim === undefined) return;
    if (!victim.isAlive) throw new Error(`Life ${String(victim.life)} ended by itself.`);
    endpoint.died(victim.life);
    await victim.kill();
  };
  try {
    for (let life = 0; life < kills; life += 1) {
      alive.push(begin(life, false));
      if (alive.length < processes) continue;
      // Sometimes during the start itself.
      if (chance() < 0.1) await setTimeout(chance() * 400);
      else {
        const until = endpoint.requests + Math.floor(chance() * MAX_REQUESTS);
        const enough = new Promise<void>((resolve) => {
          endpoint.onArrival = () => {
            if (endpoint.requests >= until) resolve();
          };
        });
        await Promise.race([enough, ...alive.map(({ died }) => died)]);
        await setTimeout(chance() * MAX_LATER_MS);
      }
      await killOldest();
    }
    while (alive.length > 0) await killOldest();
    const last = begin(kills, true);
    if (!(await last.start()) || !(await last.drained())) throw new Error('The last life ended by itself.');
    await last.kill();
    return { endpoint, accepted: acceptedBy(log) };
  } finally {
    await Promise.all(alive.map((left) => left.kill()));
    await endpoint.close();
  }
}

/** For `checkHistory`: an event is sent again only after the death of the sender that had sent it. */
export function sentHistory(
  { endpoint, accepted }: OutboxOutcome,
  stored: Pick<Around, 'completed' | 'hashOf'>,
): HistoryEvent[] {
  // A request proves that its event was stored.
  const arrived = endpoint.log.filter(({ type }) => type === 'started') as Step[];
  const around = { ...stored, acknowledged: [...accepted, ...arrived], concurrency: ENDPOINTS * IN_FLIGHT };
  return [{ type: 'limits', atMs: 0, exclusive: true }, ...historyOf(endpoint.log, around)];
}

function acceptedBy(log: string): OutboxOutcome['accepted'] {
  const steps = readFileSync(log, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ['begin' | 'stored', string]);
  const ids = new Set(steps.filter(([what]) => what === 'stored').map(([, id]) => id));
  return Array.from(ids, (id) => ({ key: `ep${String(Number(id.split('-')[1]) % ENDPOINTS)}`, id }));
}
