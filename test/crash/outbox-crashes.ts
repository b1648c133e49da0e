import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { chanceOf } from './chance.ts';
import type { Repeat } from './handler-log.ts';
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
  /** Events whose `send` resolved, by endpoint and id. */
  readonly accepted: ReadonlySet<string>;
  /** When each life was killed, in milliseconds since 1970. */
  readonly killedAtMs: ReadonlyMap<number, number>;
}

export const ENDPOINTS = 4;
export const IN_FLIGHT = 10;
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
  const killedAtMs = new Map<number, number>();
  const alive: OutboxLife[] = [];
  const killOldest = async (): Promise<void> => {
    const victim = alive.shift();
    if (victim === undefined) return;
    if (!victim.isAlive) throw new Error(`Life ${String(victim.life)} ended by itself.`);
    killedAtMs.set(victim.life, Date.now());
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
    return { endpoint, accepted: acceptedBy(log), killedAtMs };
  } finally {
    await Promise.all(alive.map((left) => left.kill()));
    await endpoint.close();
  }
}

/** Requests for an event while the sender lived that had sent it before. */
export function needlessRepeats({ endpoint, killedAtMs }: OutboxOutcome): Repeat[] {
  return endpoint.repeats().filter(({ life, toMs }) => toMs < (killedAtMs.get(life) ?? Infinity));
}

function acceptedBy(log: string): ReadonlySet<string> {
  const accepted = new Set<string>();
  for (const line of readFileSync(log, 'utf8').split('\n').filter(Boolean)) {
    const [what, id] = JSON.parse(line) as ['begin' | 'stored', string];
    const number = Number(id.slice(id.indexOf('-') + 1));
    if (what === 'stored') accepted.add(`ep${String(number % ENDPOINTS)}/${id}`);
  }
  return accepted;
}
