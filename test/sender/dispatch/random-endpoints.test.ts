import { memoryStore } from '@webhook-backpressure/inbox';
import type { Endpoint } from '@webhook-backpressure/sender';
import { describe, expect, it } from 'vitest';
import { seeded, SenderBed, type SeenRequest } from './bed.ts';

const ENDPOINTS: Readonly<Record<string, Partial<Endpoint>>> = {
  fast: { rate: { perSecond: 200 }, burst: 50, maxInFlight: 20 },
  slow: { rate: { perMinute: 120 }, burst: 1, maxInFlight: 2 },
  strict: { rate: { perSecond: 50 }, ordered: true },
  batched: { rate: { perSecond: 5 }, batch: { maxEvents: 7, maxDelayMs: 2000, maxBytes: 2000 } },
};
const IDS = Object.keys(ENDPOINTS);
const EVENTS = 400;

/** Counts what an endpoint sees, and answers at random. */
class RandomWorld {
  readonly accepted = new Map<string, number>();
  readonly bed: SenderBed;
  isCalm = false;
  readonly #random: () => number;
  readonly #inFlight = new Map<string, number>();
  readonly #limits: typeof ENDPOINTS;
  readonly excesses: string[] = [];

  constructor(seed: number) {
    this.#random = seeded(seed);
    this.#limits = ENDPOINTS;
    this.bed = new SenderBed((request) => this.#answer(request), {
      store: memoryStore(),
      capacity: 100,
      timeoutMs: 4000,
      retry: { attempts: 8, firstDelayMs: 500, maxDelayMs: 20_000 },
      random: seeded(seed + 1000),
      endpoint: (id) => ({ url: `https://${id}.example/`, secret: null, ...this.#limits[id] }),
    });
  }

  async #answer(request: SeenRequest): Promise<Response> {
    const endpoint = new URL(request.url).hostname.split('.')[0] ?? '';
    const inFlight = (this.#inFlight.get(endpoint) ?? 0) + 1;
    this.#inFlight.set(endpoint, inFlight);
    const most = endpoint === 'strict' ? 1 : (this.#limits[endpoint]?.maxInFlight ?? 10);
    if (inFlight > most) this.excesses.push(`${endpoint}: ${String(inFlight)} in flight`);
    try {
      return await this.#respond(request);
    } finally {
      this.#inFlight.set(endpoint, (this.#inFlight.get(endpoint) ?? 0) - 1);
    }
  }

  async #respond(request: SeenRequest): Promise<Response> {
    const draw = this.isCalm ? 1 : this.#random();
    await this.#wait(this.#random() * (this.isCalm ? 100 : 1500), request.signal);
    const body = request.body as { events?: { id: string }[] };
    const ids = body.events?.map(({ id }) => id) ?? [request.id];
    if (draw < 0.05) return new Response(null, { status: 500 });
    if (draw < 0.1) return new Response(null, { status: 429, headers: { 'retry-after': '2' } });
    if (draw < 0.12) return new Response(null, { status: 429, headers: { 'retry-after': 'soon' } });
    if (draw < 0.16) return new Response(null, { status: 408 });
    if (draw < 0.18) return new Response(null, { status: 413 });
    if (draw < 0.2) throw new TypeError('fetch failed');
    if (draw < 0.22) await this.#wait(10_000, request.signal);
    if (draw < 0.24 && body.events !== undefined) {
      this.#accept(ids.slice(1));
      return Response.json({ failed: ids.slice(0, 1) }, { status: 207 });
    }
    this.#accept(ids);
    return new Response(null, { status: 200 });
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    await Promise.race([
      this.bed.later(ms),
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('aborted'));
        });
      }),
    ]);
  }

  #accept(ids: readonly string[]): void {
    for (const id of ids) this.accepted.set(id, (this.accepted.get(id) ?? 0) + 1);
  }
}

describe('with endpoints that fail at random', () => {
  it.each([1, 2, 3, 4, 5, 6])('loses nothing and keeps all limits (seed %i)', async (seed) => {
    const world = new RandomWorld(seed);
    const { bed } = world;
    const sent: string[] = [];
    const sends: Promise<unknown>[] = [];
    for (let n = 0; n < EVENTS; n += 1) {
      const endpoint = IDS[n % IDS.length] as string;
      const id = `${endpoint}-${String(n).padStart(4, '0')}`;
      sends.push(bed.send(id, endpoint).then(() => sent.push(id)));
      if (n % 20 === 0) await bed.run(200);
      if (n === 100) bed.clock.jump(3000);
      if (n === 200) bed.clock.jump(-5000);
      if (n === 150) await bed.sender.endpoints.pause('fast');
      if (n === 250) await bed.sender.endpoints.resume('fast');
    }
    await bed.run(60_000);
    world.isCalm = true;
    await bed.run(1_200_000, 200);
    await Promise.all(sends);

    const { depth, inFlight, totals, isStoreFailing } = bed.sender.snapshot();
    expect({ depth, inFlight, isStoreFailing }).toEqual({ depth: 0, inFlight: 0, isStoreFailing: false });
    expect(totals.delivered + totals.dead).toBe(EVENTS);
    expect(totals.accepted).toBe(EVENTS);
    const dead = await bed.sender.deadLetters.list({ limit: 1000 });
    const ended = new Set([...world.accepted.keys(), ...dead.map(({ id }) => id)]);
    expect(sent.filter((id) => !ended.has(id))).toEqual([]);
    expect(world.excesses).toEqual([]);
    for (const id of IDS) expect(bed.sender.endpoints.get(id)?.audit.excess).toBe(0);
    // Strictly in order, apart from repeats.
    const firsts = [...world.accepted.keys()].filter((id) => id.startsWith('strict'));
    expect(firsts).toEqual([...firsts].sort());
    await bed.sender.close();
    expect(bed.clock.pending).toBe(0);
  });
});
