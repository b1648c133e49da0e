import { BackpressureError } from '@webhook-backpressure/base';
import { type InboxStore, memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { SenderBed } from '../dispatch/bed.ts';
import { noted } from './ended-calls.ts';

const hanging = (): Promise<never> => new Promise<never>(() => undefined);

describe('an outbox whose store opens slowly', () => {
  it('ends a call of send when its signal is aborted, and stores nothing of it', async () => {
    const store = memoryStore();
    const open = store.open.bind(store);
    let proceed = (): void => undefined;
    const gate = new Promise<void>((resolve) => (proceed = resolve));
    store.open = async (...given) => {
      await gate;
      return await open(...given);
    };
    const bed = new SenderBed(undefined, { store });
    const controller = new AbortController();
    const event = { endpoint: 'a', type: 'test', data: 1 };
    const aborted = bed.sender.send(event, { signal: controller.signal });
    const kept = bed.sender.send(event, { signal: new AbortController().signal });
    controller.abort(new Error('too slow'));
    await expect(aborted).rejects.toThrow('too slow');
    proceed();
    await expect(kept).resolves.toMatchObject({ status: 'accepted' });
    expect(bed.sender.snapshot()).toMatchObject({ totals: { accepted: 1 } });
  });
});

describe('a full outbox', () => {
  it('lets calls of send wait for room, in order', async () => {
    const bed = new SenderBed(hanging, { capacity: 2, timeoutMs: 1000, limits: { maxInFlight: 1 } });
    const ended: string[] = [];
    void noted(bed, ['1', '2', '3', '4', '5'], ended);
    await bed.settle();
    expect(ended).toEqual(['1', '2']);
    expect(bed.sender.snapshot()).toMatchObject({ state: 'full', depth: 2, waitingSends: 3 });
    bed.answer = () => new Response(null, { status: 204 });
    await bed.run(30_000);
    expect(ended).toEqual(['1', '2', '3', '4', '5']);
    expect(bed.types().filter((type) => type === 'full' || type === 'accepting')).toEqual([
      'full',
      'accepting',
    ]);
    expect(bed.sender.snapshot()).toMatchObject({ state: 'accepting', depth: 0, totals: { delivered: 5 } });
  });

  it('lets the next call proceed when an event is delivered, without a check later', async () => {
    let answer = (_: Response): void => undefined;
    const bed = new SenderBed(() => new Promise((resolve) => (answer = resolve)), {
      capacity: 1,
      limits: { maxInFlight: 1 },
    });
    const ended: string[] = [];
    void noted(bed, ['1', '2'], ended);
    await bed.settle();
    expect(ended).toEqual(['1']);
    answer(new Response(null, { status: 204 }));
    await bed.settle();
    expect(ended).toEqual(['1', '2']);
  });

  it('refuses events if asked to', async () => {
    const bed = new SenderBed(hanging, { capacity: 2, whenFull: 'refuse' });
    const ended: string[] = [];
    void noted(bed, ['1', '2', '3'], ended);
    await bed.settle();
    expect(ended).toEqual(expect.arrayContaining(['1', '2', '3: ERR_WBP_SEND_FULL']));
    expect(bed.sender.snapshot().totals).toMatchObject({ accepted: 2, refused: 1 });
  });

  it('is full by bytes, too', async () => {
    const bed = new SenderBed(hanging, { maxEventBytes: 60_000, maxBytes: 126_000, whenFull: 'refuse' });
    const event = { endpoint: 'a', type: 't', data: 'x'.repeat(59_000) };
    await expect(bed.sender.send(event)).resolves.toMatchObject({ status: 'accepted' });
    await expect(bed.sender.send(event)).resolves.toMatchObject({ status: 'accepted' });
    await expect(bed.sender.send(event)).rejects.toMatchObject({ code: 'ERR_WBP_SEND_FULL' });
  });

  it('does not let a small event overtake a large one that waits', async () => {
    const bed = new SenderBed(hanging, { maxEventBytes: 60_000, maxBytes: 126_000 });
    const event = (id: string, size: number) => ({ endpoint: 'a', type: 't', id, data: 'x'.repeat(size) });
    const ended: string[] = [];
    for (const [id, size] of [
      ['1', 59_000],
      ['2', 59_000],
      ['3', 59_000],
      ['4', 10],
    ] as const)
      void bed.sender.send(event(id, size)).then(() => ended.push(id));
    await bed.settle();
    expect(ended).toEqual(['1', '2']);
    expect(bed.sender.snapshot().waitingSends).toBe(2);
  });

  it('asks the store twice a second while other processes keep it full', async () => {
    const store = memoryStore();
    let puts = 0;
    let isFull = true;
    const full = new Proxy(store, {
      get(target, name) {
        const call: unknown = Reflect.get(target, name);
        if (typeof call !== 'function') return call;
        if (name !== 'put') return call.bind(target) as unknown;
        return (batch: readonly unknown[], options: Parameters<InboxStore['put']>[1]): unknown => {
          puts += 1;
          return isFull
            ? batch.map(() => 'full')
            : target.put(batch as Parameters<InboxStore['put']>[0], options);
        };
      },
    });
    const bed = new SenderBed(undefined, { store: full });
    const ended: string[] = [];
    void noted(bed, ['1'], ended);
    await bed.run(5000);
    expect(ended).toEqual([]);
    expect(puts).toBeGreaterThanOrEqual(5);
    expect(puts).toBeLessThanOrEqual(12);
    isFull = false;
    await bed.run(1000);
    expect(ended).toEqual(['1']);
  });

  it('keeps no room for a call that is rejected because the store fails when its turn comes', async () => {
    let answer = (_: Response): void => undefined;
    const failing = new Set<string>();
    const bed = new SenderBed(() => new Promise((resolve) => (answer = resolve)), {
      store: breakable(memoryStore(), failing),
      capacity: 1,
    });
    const ended: string[] = [];
    void noted(bed, ['1', '2'], ended);
    await bed.settle();
    failing.add('stats');
    await bed.run(510, 10);
    expect(bed.sender.snapshot().isStoreFailing).toBe(true);
    answer(new Response(null, { status: 204 }));
    await bed.settle();
    expect(ended).toEqual(['1', '2: ERR_WBP_SENDER_STORE']);
    failing.clear();
    await bed.run(5000);
    await noted(bed, ['3'], ended);
    expect(ended.at(-1)).toBe('3');
  });

  it('ends a wait by its signal, without changing the order of the others', async () => {
    const bed = new SenderBed(hanging, { capacity: 1, timeoutMs: 1000 });
    await bed.send('1');
    const controller = new AbortController();
    const given = bed.sender.send({ endpoint: 'a', type: 't', data: 1 }, { signal: controller.signal });
    const ended: string[] = [];
    void noted(bed, ['2'], ended);
    await bed.settle();
    controller.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    bed.answer = () => new Response(null, { status: 204 });
    await bed.run(20_000);
    expect(ended).toEqual(['2']);
  });
});

describe('a store that fails', () => {
  it('is found to work again by a sender that has nothing to send since it was full', async () => {
    let answer = (_: Response): void => undefined;
    const failing = new Set<string>();
    const bed = new SenderBed(() => new Promise((resolve) => (answer = resolve)), {
      ...{ store: breakable(memoryStore(), failing), capacity: 1, whenFull: 'refuse' },
    });
    await bed.send('1');
    failing.add('stats');
    await expect(bed.send('2')).rejects.toMatchObject({ code: 'ERR_WBP_SEND_FULL' });
    await bed.run(510, 10);
    expect(bed.sender.snapshot().isStoreFailing).toBe(true);
    answer(new Response(null, { status: 204 }));
    await bed.settle();
    failing.clear();
    await bed.run(10_000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, isStoreFailing: false });
  });

  it('makes send reject with a code and the cause, and delivers the stored events when it works again', async () => {
    const store = memoryStore();
    const failing = new Set<string>();
    const bed = new SenderBed(undefined, { store: breakable(store, failing) });
    await bed.send('1');
    failing.add('put').add('claimKeys').add('settle');
    await expect(bed.send('2')).rejects.toMatchObject({
      code: 'ERR_WBP_SENDER_STORE',
      cause: { message: 'disk on fire' },
    });
    expect(bed.sender.snapshot().isStoreFailing).toBe(true);
    await bed.run(5000);
    failing.clear();
    await bed.run(20_000);
    await bed.send('3');
    await bed.run(1000);
    expect(bed.sender.snapshot()).toMatchObject({
      depth: 0,
      isStoreFailing: false,
      totals: { delivered: 2 },
    });
    expect(bed.requests.map(({ id }) => id)).toEqual(['1', '3']);
  });

  it('rejects a single event that it cannot store, and takes the others', async () => {
    const store = memoryStore();
    const bed = new SenderBed(undefined, {
      store: new Proxy(store, {
        get: (target, name) => {
          const call: unknown = Reflect.get(target, name);
          if (name !== 'put') return typeof call === 'function' ? (call.bind(target) as unknown) : call;
          return (...args: Parameters<InboxStore['put']>) => {
            if (args[0].some(({ delivery }) => delivery.id === 'bad'))
              throw new BackpressureError('ERR_WBP_STORE_VALUE', 'It contains NUL.');
            return store.put(...args);
          };
        },
      }),
    });
    const bad = bed.send('bad');
    const others = [bed.send('1'), bed.send('2')];
    await expect(bad).rejects.toMatchObject({ code: 'ERR_WBP_STORE_VALUE' });
    await expect(Promise.all(others)).resolves.toHaveLength(2);
    await expect(bed.send('3')).resolves.toMatchObject({ status: 'accepted' });
  });

  it('never takes a result that it does not know for stored', async () => {
    const store = new Proxy(memoryStore(), {
      get(target, name) {
        const call: unknown = Reflect.get(target, name);
        if (name === 'put') return (batch: readonly unknown[]): unknown => batch.map(() => 'ok');
        return typeof call === 'function' ? (call.bind(target) as unknown) : call;
      },
    });
    const bed = new SenderBed(undefined, { store });
    await expect(bed.send('1')).rejects.toMatchObject({ code: 'ERR_WBP_SENDER_STORE' });
  });

  it('opens late: send rejects meanwhile', async () => {
    const store = memoryStore();
    const failing = new Set(['open']);
    const bed = new SenderBed(undefined, { store: breakable(store, failing) });
    await bed.settle();
    await expect(bed.send('1')).rejects.toMatchObject({ code: 'ERR_WBP_SENDER_STORE' });
    expect(bed.sender.snapshot().state).toBe('opening');
    failing.clear();
    await bed.run(2000);
    await bed.send('1');
    await bed.run(100);
    expect(bed.requests).toHaveLength(1);
  });
});

/** The store, whose named calls reject. */
function breakable(store: InboxStore, failing: ReadonlySet<string>): InboxStore {
  return new Proxy(store, {
    get(target, name) {
      const call: unknown = Reflect.get(target, name);
      if (typeof call !== 'function') return call;
      return (...args: unknown[]): unknown => {
        if (failing.has(String(name))) return Promise.reject(new Error('disk on fire'));
        return Reflect.apply(call, target, args);
      };
    },
  });
}
