import type { InboxOptions, KeyLimits } from '@webhook-backpressure/inbox';
import { stream } from '@webhook-backpressure/planner/parts';
import { InboxBench } from '../inbox-bench.ts';

/** Deliveries of some keys, by a Poisson process. */
export interface Flow {
  readonly perSecond: number;
  /** Each delivery is of one of these keys, by chance. */
  readonly keys: readonly string[];
}

/** What the workers of an inbox are loaded with. */
export interface Load {
  readonly flows: Readonly<Record<string, Flow>>;
  /** Deliveries that are stored before the first handler starts, and their key. */
  readonly backlog?: { readonly count: number; readonly key: string } | undefined;
  readonly concurrency: number;
  readonly handlerMs: number;
  readonly forMs: number;
  readonly limits?: ((key: string) => KeyLimits | undefined) | undefined;
  readonly options?: Partial<InboxOptions> | undefined;
  readonly seed?: number | undefined;
  /** By how much time advances. */
  readonly stepMs?: number | undefined;
}

/** What became of the deliveries of one flow. */
export interface Outcome {
  readonly arrived: number;
  readonly started: number;
  /** How long each one waited for its start, in ascending order; those that have not started have waited until the end. */
  readonly waitsMs: readonly number[];
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs a real inbox on the manual clock. */
export async function run(load: Load): Promise<Map<string, Outcome>> {
  const { flows, backlog, concurrency, handlerMs, forMs, limits, options, seed = 1, stepMs = 10 } = load;
  const random = stream(seed, 'flows');
  const waiting = new Map<string, { readonly flow: string; readonly atMs: number }>();
  const waits = new Map<string, number[]>([...Object.keys(flows), 'backlog'].map((name) => [name, []]));
  const started = new Map<string, number>();
  const note = (id: string): void => {
    const { flow, atMs } = waiting.get(id) ?? { flow: '', atMs: 0 };
    waiting.delete(id);
    waits.get(flow)?.push(bench.clock.now() - atMs);
    started.set(flow, (started.get(flow) ?? 0) + 1);
  };
  const bench = new InboxBench({
    concurrency,
    capacity: 10_000_000,
    maxBytes: 1e12,
    keyGenerator: ({ headers }) => headers['x-key'],
    random: stream(seed, 'inbox'),
    limits,
    ...options,
    process: ({ id }) => {
      note(id);
      return new Promise<void>((resolve) => {
        bench.clock.setTimeout(() => {
          resolve();
        }, handlerMs);
      });
    },
  });
  let sent = 0;
  const send = (flow: string, key: string): void => {
    sent += 1;
    waiting.set(String(sent), { flow, atMs: bench.clock.now() });
    void bench.send(String(sent), '', { 'x-key': key });
  };
  if (backlog !== undefined) {
    await bench.inbox.pause();
    for (let at = 0; at < backlog.count; at += 1) {
      send('backlog', backlog.key);
      if (at % 1000 === 999) await turn();
    }
    for (let at = 0; at < 20; at += 1) await turn();
    bench.clock.advance(3_600_000);
    await bench.inbox.resume();
  }
  const startMs = bench.clock.now();
  const next = new Map(Object.entries(flows).map(([name, { perSecond }]) => [name, gap(perSecond)]));
  while (bench.clock.now() < startMs + forMs) {
    bench.clock.advance(stepMs);
    for (const [name, { perSecond, keys }] of Object.entries(flows)) {
      let atMs = next.get(name) ?? 0;
      for (; atMs <= bench.clock.now() - startMs; atMs += gap(perSecond))
        send(name, keys[Math.floor(random() * keys.length)] ?? '');
      next.set(name, atMs);
    }
    for (let at = 0; at < 4; at += 1) await turn();
  }
  const endMs = bench.clock.now();
  for (const { flow, atMs } of waiting.values()) waits.get(flow)?.push(endMs - atMs);
  return new Map(
    [...waits].map(([name, waitsMs]) => [
      name,
      {
        arrived: waitsMs.length,
        started: started.get(name) ?? 0,
        waitsMs: waitsMs.sort((a, b) => a - b),
      },
    ]),
  );

  function gap(perSecond: number): number {
    return (-Math.log(1 - random()) * 1000) / perSecond;
  }
}

export function quantile({ waitsMs }: Outcome, part: number): number {
  return waitsMs[Math.min(waitsMs.length - 1, Math.floor(part * waitsMs.length))] ?? 0;
}

/** The part of the deliveries that started within this time. */
export function onTime({ waitsMs }: Outcome, withinMs: number): number {
  return waitsMs.filter((ms) => ms <= withinMs).length / waitsMs.length;
}
