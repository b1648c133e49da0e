import { setTimeout } from 'node:timers/promises';
import { FakeGitHub, HOOK } from '../reconcile/fake-github.ts';
import { serve } from '../reconcile/serve.ts';
import { chanceOf } from './chance.ts';
import { Receiver, type ReceiverSettings } from './receiver.ts';

export interface Plan {
  readonly file: string;
  readonly log: string;
  readonly kills: number;
  readonly events: number;
  readonly seed: number;
}

/** What was measured. */
export interface Outcome {
  readonly ids: readonly string[];
  /** Events that were not acknowledged. */
  readonly missed: number;
  /** Requests to the API, by their kind. */
  readonly lists: number;
  readonly gets: number;
  /** From the last start until everything was handled, in real time: a tenth of that of the reconciler. */
  readonly caughtUpMs: number;
}

export const SETTINGS: ReceiverSettings = { concurrency: 10, attempts: 20, maxHandlingMs: 60_000 };

const CONNECTIONS = 8;
/** Of the reconciler's clock and the API's: 8 requests a second are 80. */
const SPEED = 10;
const MAX_HANDLING_MS = 3;
/** A process is killed so long after most events of its life, at most: while it fetches what was missed before. */
const LATER_MS = 300;
const LATER_MS_PER_EVENT = 0.3;
const LAST_MS = 5;

/** A third of the events happen while the receiver is dead. */
export async function missEvents({ file, log, kills, events, seed }: Plan): Promise<Outcome> {
  const chance = chanceOf(seed);
  const startMs = Date.now();
  let receiver: Receiver | undefined;
  const fake = new FakeGitHub({
    wallMs: () => startMs + SPEED * (Date.now() - startMs),
    // The header would spread the requests over an hour.
    limit: Infinity,
    send: async (request) => {
      if (receiver?.isAlive !== true) return 502;
      const { headers } = request;
      const url = `http://127.0.0.1:${String(receiver.port)}/webhooks`;
      const answer = await fetch(url, { method: 'POST', headers, body: await request.text() });
      await answer.arrayBuffer();
      return answer.status;
    },
  });
  const { server, url } = await serve(fake.fetch);
  const api = { url, token: fake.token, hook: HOOK, speed: SPEED, startMs };
  const ids: string[] = [];
  let left = events;

  const happen = async (count: number): Promise<void> => {
    let next = Math.min(count, left);
    left -= next;
    const connection = async (): Promise<void> => {
      while (next > 0) {
        next -= 1;
        const { guid } = await fake.happen('push', { tookMs: Math.floor(chance() * MAX_HANDLING_MS) });
        ids.push(guid);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  };
  const begin = async (life: number): Promise<Receiver> => {
    const one = new Receiver({ role: 'both', store: { path: file }, log, life, api, ...SETTINGS });
    if (await one.start()) return one;
    throw new Error('The receiver ended by itself.');
  };

  try {
    for (let life = 0; life < kills; life += 1) {
      receiver = await begin(life);
      await happen(Math.round((2 * events) / (3 * (kills + 1))) - CONNECTIONS);
      await setTimeout(chance() * Math.max(LATER_MS, LATER_MS_PER_EVENT * events));
      // These are in flight.
      const last = happen(CONNECTIONS);
      await setTimeout(chance() * LAST_MS);
      await receiver.kill();
      await last;
      await happen(Math.round(events / (3 * kills)));
    }
    const beganMs = Date.now();
    receiver = await begin(kills);
    await happen(left);
    if (!(await receiver.drain())) throw new Error('The last life ended by itself.');
    const caughtUpMs = Date.now() - beganMs;
    const missed = fake.attempts.filter(({ statusCode }) => statusCode >= 300).length;
    const gets = fake.calls.filter((call) => /\/deliveries\/\d+$/.test(call)).length;
    return { ids, missed, lists: fake.calls.length - gets, gets, caughtUpMs };
  } finally {
    await receiver?.kill();
    server.closeAllConnections();
    server.close();
  }
}
