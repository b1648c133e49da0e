import { describe, expect, it } from 'vitest';
import { SenderBed, type Answering } from './bed.ts';

const status = (code: number, headers: Record<string, string> = {}): Answering => {
  return () => new Response(null, { status: code, headers });
};

/** Answers in turn; the last one for ever. */
function inTurn(...answers: readonly Answering[]): Answering {
  let at = 0;
  return (request) => {
    const answer = answers[Math.min(at, answers.length - 1)] as Answering;
    at += 1;
    return answer(request);
  };
}

describe('after an answer', () => {
  it('waits at least as long as Retry-After says, and little longer', async () => {
    const bed = new SenderBed(inTurn(status(429, { 'retry-after': '30' }), status(204)));
    await bed.send('1');
    await bed.run(29_900);
    expect(bed.requests).toHaveLength(1);
    expect(bed.sender.endpoints.get('a')).toMatchObject({ state: 'waiting', waitsBecause: 'retry-after' });
    await bed.run(2200);
    expect(bed.requests).toHaveLength(2);
    expect(bed.types()).toContain('limited');
    // The wait is no attempt.
    expect(bed.events.find(({ type }) => type === 'delivered')).toMatchObject({ attempt: 1 });
  });

  it('makes no other attempt at the endpoint during its wait', async () => {
    const bed = new SenderBed(inTurn(status(503, { 'retry-after': '10' }), status(204)));
    await bed.send('1');
    await bed.run(100);
    for (let n = 2; n <= 20; n += 1) await bed.send(String(n));
    await bed.send('other', 'b');
    await bed.run(9800);
    expect(bed.requests.map(({ id }) => id)).toEqual(['1', 'other']);
    await bed.run(60_000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 21, limited: 1 } });
  });

  it('waits a minute after 429 without a time', async () => {
    const bed = new SenderBed(inTurn(status(429), status(204)));
    await bed.send('1');
    await bed.run(59_900);
    expect(bed.requests).toHaveLength(1);
    await bed.run(2200);
    expect(bed.requests).toHaveLength(2);
  });

  it('moves an event to the dead-letter queue after its last attempt, and redrives it', async () => {
    const bed = new SenderBed(status(408), { retry: { attempts: 3, firstDelayMs: 1000, maxDelayMs: 1000 } });
    await bed.send('1');
    await bed.run(5000);
    expect(bed.requests).toHaveLength(3);
    expect(bed.types().filter((type) => type === 'failed')).toHaveLength(2);
    expect(bed.events.find(({ type }) => type === 'dead')).toMatchObject({
      id: '1',
      attempt: 3,
      status: 408,
    });
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, deadLetters: 1, totals: { dead: 1, failed: 3 } });
    expect(await bed.sender.deadLetters.list()).toMatchObject([{ id: '1', key: 'a', attempts: 3 }]);
    bed.answer = status(204);
    await expect(bed.sender.deadLetters.redrive('1')).resolves.toBe(1);
    await bed.run(1000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, deadLetters: 0, totals: { delivered: 1 } });
  });

  it('makes one attempt only when a retry is useless', async () => {
    const bed = new SenderBed(status(404));
    await bed.send('1');
    await bed.run(100);
    expect(bed.requests).toHaveLength(1);
    expect(await bed.sender.deadLetters.list()).toMatchObject([{ id: '1', error: 'HTTP 404' }]);
  });

  it('gives an event up that is too old', async () => {
    const bed = new SenderBed(status(429, { 'retry-after': '3600' }), { retry: { maxAgeMs: 7_200_000 } });
    await bed.send('1');
    for (let hour = 0; hour < 4; hour += 1) await bed.run(3_600_000, 60_000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { dead: 1, delivered: 0 } });
    expect(bed.requests.length).toBeGreaterThanOrEqual(3);
  });

  it('probes an endpoint that answers nothing but 5xx, whatever Retry-After says, and disables it', async () => {
    const retry = { attempts: 1000, maxAgeMs: 30 * 86_400_000 };
    const bed = new SenderBed(status(500, { 'retry-after': '1' }), { retry, disableAfterMs: 2 * 86_400_000 });
    for (let n = 0; n < 20; n += 1) await bed.send(String(n));
    for (let hour = 0; hour < 50; hour += 1) await bed.run(3_600_000, 60_000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, deadLetters: 20, totals: { disabled: 1 } });
    expect(bed.requests.length).toBeLessThan(600);
  });

  it('gives an event up that has failed for too long, before its last attempt', async () => {
    const retry = { attempts: 1000, firstDelayMs: 600_000, maxDelayMs: 600_000, maxAgeMs: 3_600_000 };
    const bed = new SenderBed(status(408), { retry });
    await bed.send('1');
    await bed.run(3_540_000, 20_000);
    expect(bed.sender.snapshot().totals.dead).toBe(0);
    await bed.run(1_200_000, 20_000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { dead: 1 } });
  });

  it('keeps an event whose last attempt failed while the dead-letter queue is full', async () => {
    const retry = { attempts: 1, firstDelayMs: 1000, maxDelayMs: 60_000 };
    const bed = new SenderBed(status(408), { maxDeadLetters: 1, retry });
    await bed.send('1');
    await bed.send('2');
    await bed.run(1000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 1, deadLetters: 1 });
    expect(bed.events.find(({ type }) => type === 'failed')).toMatchObject({ attempt: 1, isCounted: false });
    bed.answer = status(204);
    await bed.run(61_000, 500);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, deadLetters: 1, totals: { delivered: 1 } });
    // It is the last attempt again.
    expect(bed.events.find(({ type }) => type === 'delivered')).toMatchObject({ attempt: 1 });
  });

  it('ends an attempt without an answer at the timeout', async () => {
    const bed = new SenderBed(() => new Promise<never>(() => undefined), { timeoutMs: 5000 });
    await bed.send('1');
    await bed.run(4900);
    expect(bed.sender.snapshot().inFlight).toBe(1);
    await bed.run(200);
    expect(bed.requests[0]?.signal.aborted).toBe(true);
    expect(bed.sender.snapshot()).toMatchObject({ inFlight: 0, totals: { failed: 1, timedOut: 1 } });
  });

  it('probes an endpoint that is down, and spares the attempts of the other events', async () => {
    const bed = new SenderBed(status(500), { limits: { maxInFlight: 1 } });
    for (let n = 1; n <= 50; n += 1) await bed.send(String(n));
    await bed.run(1000);
    expect(bed.requests).toHaveLength(5);
    expect(bed.sender.endpoints.get('a')).toMatchObject({ state: 'failing', queued: 50 });
    await bed.run(60_000);
    const probes = bed.requests.length - 5;
    expect(probes).toBeGreaterThanOrEqual(3);
    expect(probes).toBeLessThanOrEqual(6);
    expect(bed.mostInFlight).toBe(1);
    bed.answer = status(204);
    await bed.run(120_000);
    expect(bed.types()).toContain('recovered');
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 50, dead: 0 } });
  });

  it('takes an endpoint that answers 408 for one that works', async () => {
    const bed = new SenderBed(status(408));
    for (let n = 1; n <= 10; n += 1) await bed.send(String(n));
    await bed.run(1000);
    expect(bed.requests.length).toBeGreaterThanOrEqual(10);
    expect(bed.sender.endpoints.get('a')).toMatchObject({ state: 'active' });
  });

  it('raises the in-flight limit while half of it is used', async () => {
    const bed = new SenderBed(
      async () => {
        await bed.later(50);
        return new Response(null, { status: 204 });
      },
      { limits: { rate: { perSecond: 1000 }, maxInFlight: 20 } },
    );
    for (let round = 0; round < 4; round += 1) {
      await Promise.all([1, 2, 3, 4].map((n) => bed.send(`${String(round)}-${String(n)}`)));
      await bed.run(200, 10);
    }
    expect(bed.sender.endpoints.get('a')).toMatchObject({ maxInFlight: 9 });
  });

  it('counts probes, so that an event cannot be the probe for ever', async () => {
    const bed = new SenderBed(status(500), { retry: { attempts: 8, firstDelayMs: 1000, maxDelayMs: 1000 } });
    await bed.send('1');
    await bed.run(120_000, 500);
    expect(bed.requests).toHaveLength(8);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { dead: 1 } });
  });

  it('keeps the in-flight limit during the probes', async () => {
    const bed = new SenderBed(status(204), { limits: { rate: { perSecond: 1000 }, maxInFlight: 20 } });
    const sendMore = async (name: string, count: number): Promise<void> => {
      await Promise.all(Array.from({ length: count }, (_, n) => bed.send(`${name}${String(n)}`)));
    };
    for (let n = 0; n < 5; n += 1) {
      bed.answer = async () => {
        await bed.later(50);
        return new Response(null, { status: 204 });
      };
      await sendMore(`known${String(n)}-`, 20);
      await bed.run(500);
    }
    expect(bed.sender.endpoints.get('a')).toMatchObject({ maxInFlight: 20 });
    let failures = 0;
    bed.answer = () => {
      failures += 1;
      return failures <= 5 ? new Response(null, { status: 500 }) : new Promise<never>(() => undefined);
    };
    bed.requests.length = 0;
    await sendMore('late', 30);
    await bed.run(10_000);
    const { state, maxInFlight, inFlight } = bed.sender.endpoints.get('a') ?? {};
    expect({ state, maxInFlight }).toEqual({ state: 'failing', maxInFlight: 8 });
    expect(inFlight).toBe(15);
    expect(bed.requests).toHaveLength(20);
  });

  it('counts no attempt of events that were in flight when the endpoint began to fail', async () => {
    const bed = new SenderBed(async () => {
      await bed.later(1000);
      return new Response(null, { status: 500 });
    });
    for (let n = 1; n <= 8; n += 1) await bed.send(String(n));
    await bed.run(1500);
    expect(bed.requests).toHaveLength(8);
    const counted = bed.events.filter((event) => event.type === 'failed' && event.isCounted);
    expect(counted).toHaveLength(5);
    const pending = bed.events.filter((event) => event.type === 'failed' && !event.isCounted);
    expect(pending).toHaveLength(3);
  });

  it('counts by its status if only its body takes too long', async () => {
    const endless = (): Response => new Response(new ReadableStream({}), { status: 200 });
    const bed = new SenderBed(endless, { timeoutMs: 1000 });
    await bed.send('1');
    await bed.run(3000);
    expect(bed.requests).toHaveLength(1);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 1, timedOut: 0 } });
  });
});
