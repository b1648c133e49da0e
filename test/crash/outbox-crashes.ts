import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { chanceOf } from './chance.ts';
import { OutboxLife, type OutboxSettings } from './outbox-life.ts';
import { SlowEndpoint } from './slow-endpoint.ts';

export interface OutboxPlan {
  readonly store: OutboxSettings['store'];
  readonly log: string;
  readonly kills: number;
  readonly seed: number;
}

export interface OutboxOutcome {
  readonly endpoint: SlowEndpoint;
  /** Events whose `send` resolved, by endpoint and id. */
  readonly accepted: ReadonlySet<string>;
}

export const ENDPOINTS = 4;
export const IN_FLIGHT = 10;
/** Small enough that `send` waits for room most of the time. */
const CAPACITY = 200;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
/** A life ends after at most this many requests and then this many milliseconds. */
const MOST_REQUESTS = 150;
const MOST_LATER_MS = 10;

/** Kills a sender at random moments while it sends, and lets the last life deliver everything. */
export async function crashOutbox({ store, log, kills, seed }: OutboxPlan): Promise<OutboxOutcome> {
  const chance = chanceOf(seed);
  const endpoint = new SlowEndpoint(SECRET, chance);
  const url = await endpoint.listen();
  const settings = { store, log, url, secret: SECRET, endpoints: ENDPOINTS, maxInFlight: IN_FLIGHT };
  const begin = (life: number, isLast: boolean): OutboxLife =>
    new OutboxLife({ ...settings, capacity: CAPACITY, life, isLast });
  try {
    for (let life = 0; life < kills; life += 1) {
      const sender = begin(life, false);
      // Sometimes during the start itself.
      if (chance() < 0.1) await setTimeout(chance() * 400);
      else {
        const until = endpoint.requests + Math.floor(chance() * MOST_REQUESTS);
        const enough = new Promise<void>((resolve) => {
          endpoint.onArrival = () => {
            if (endpoint.requests >= until) resolve();
          };
        });
        await Promise.race([enough, sender.died]);
        await setTimeout(chance() * MOST_LATER_MS);
        if (!sender.isAlive) throw new Error(`Life ${String(life)} ended by itself.`);
      }
      await sender.kill();
    }
    const last = begin(kills, true);
    if (!(await last.start()) || !(await last.drained())) throw new Error('The last life ended by itself.');
    await last.kill();
    return { endpoint, accepted: acceptedBy(log) };
  } finally {
    await endpoint.close();
  }
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
