import { BackpressureError } from '@webhook-backpressure/base';
import { type BodySink, type InboxAnswer, memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';

describe('the receiver of a body', () => {
  it('answers 413 above the limit, and does not read a body whose Content-Length exceeds it', async () => {
    const bench = new InboxBench({ maxBodyBytes: 10 });
    expect((await bench.deliver('a', '1234567890')).status).toBe(200);
    const answer = await bench.deliver('b', '12345678901');
    expect([answer.status, JSON.parse(answer.body)]).toEqual([413, expect.objectContaining({ status: 413 })]);
    const read = (): Promise<'whole'> => Promise.reject(new Error('it was read'));
    const early = await bench.inbox.receive({ headers: { 'content-length': '11' }, hint: '', read });
    expect(early?.status).toBe(413);
    expect(bench.inbox.snapshot().totals.tooLarge).toBe(2);
  });

  it('rejects with advice when the body was consumed before', async () => {
    const bench = new InboxBench();
    const receiving = bench.inbox.receive({
      headers: {},
      hint: 'Do this.',
      read: () => Promise.resolve('consumed'),
    });
    const error = await receiving.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BackpressureError);
    expect((error as BackpressureError).code).toBe('ERR_WBP_BODY_READ');
    expect((error as BackpressureError).message).toContain('Do this.');
  });

  it('does not answer a sender that has disconnected', async () => {
    const bench = new InboxBench();
    const read = (): Promise<'gone'> => Promise.resolve('gone');
    expect(await bench.inbox.receive({ headers: {}, hint: '', read })).toBeNull();
  });

  it('refuses a body that does not end before the sender times out', async () => {
    const bench = new InboxBench();
    const never = new Promise<'whole'>(() => undefined);
    const slack = bench.inbox.receive({
      headers: { 'x-slack-signature': 'v0' },
      hint: '',
      read: () => never,
    });
    await bench.advance(2300);
    let answer: InboxAnswer | null | undefined;
    void slack.then((given) => (answer = given));
    await turns();
    expect(answer).toBeUndefined();
    await bench.advance(200);
    expect(answer).toMatchObject({ status: 503 });
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ reason: 'wait' });
  });
});

const MEBIBYTE = 1024 * 1024;
/** Senders send parts of it, since filling new memory takes longer than the rest. */
const ZEROS = new Uint8Array(40 * MEBIBYTE);

/** A sender that the test controls. */
class SlowSender {
  readonly answered: Promise<InboxAnswer | null>;
  answer: InboxAnswer | null | undefined;
  #body: BodySink | undefined;
  #finish: () => void = () => undefined;

  constructor(bench: InboxBench, headers: Record<string, string> = {}) {
    const read = (body: BodySink): Promise<'whole'> => {
      this.#body = body;
      return new Promise((resolve) => {
        this.#finish = () => {
          resolve('whole');
        };
      });
    };
    this.answered = bench.inbox.receive({ headers, hint: '', read });
    void this.answered.then((answer) => {
      this.answer = answer;
    });
  }

  /** Whether the receiver wants more. */
  send(bytes: number): boolean {
    const isWanted = this.#body?.add(ZEROS.subarray(0, bytes)) === true;
    if (!isWanted) this.#finish();
    return isWanted;
  }

  end(): Promise<InboxAnswer | null> {
    this.#finish();
    return this.answered;
  }
}

/** Slow senders whose bodies use the whole budget. */
function slowSenders(bench: InboxBench, count = 64): SlowSender[] {
  const senders = Array.from({ length: count }, () => new SlowSender(bench));
  const all = 64 * MEBIBYTE;
  for (const sender of senders) expect(sender.send(Math.floor(all / count) - 300)).toBe(true);
  return senders;
}

async function deliverQuickly(bench: InboxBench, bytes: number): Promise<number | undefined> {
  const sender = new SlowSender(bench);
  sender.send(bytes);
  return (await sender.end())?.status;
}

describe('the body budget', () => {
  it('bounds the memory of all bodies', async () => {
    const bench = new InboxBench({ maxBodyBytes: 40 * MEBIBYTE });
    const first = new SlowSender(bench);
    first.send(40 * MEBIBYTE);
    const refused = new SlowSender(bench);
    expect(refused.send(40 * MEBIBYTE)).toBe(false);
    expect(JSON.parse((await refused.end())?.body ?? '')).toMatchObject({ status: 503, reason: 'pressure' });
    expect((await first.end())?.status).toBe(200);
    expect(await deliverQuickly(bench, 40 * MEBIBYTE)).toBe(200);
  });

  it('cuts the oldest slow body off for a new one', async () => {
    const bench = new InboxBench();
    const slow = slowSenders(bench);
    await bench.advance(250);
    expect(await deliverQuickly(bench, MEBIBYTE)).toBe(200);
    expect(JSON.parse(slow[0]?.answer?.body ?? '')).toMatchObject({ status: 503, reason: 'pressure' });
    expect(slow[0]?.send(1)).toBe(false);
    expect(slow.filter(({ answer }) => answer !== undefined)).toHaveLength(1);
    // The sender that was cut off is answered once, and its memory suffices for exactly one more body.
    expect(bench.inbox.snapshot().totals.refused.pressure).toBe(1);
    expect(await deliverQuickly(bench, 1000)).toBe(200);
    expect(bench.inbox.snapshot().totals.refused.pressure).toBe(1);
    // The remaining bodies can still complete.
    expect((await slow[1]?.end())?.status).toBe(200);
  });

  it('cuts slow bodies off in turn, however small they are', async () => {
    const bench = new InboxBench();
    const slow = slowSenders(bench, 640);
    await bench.advance(250);
    for (let round = 0; round < 20; round += 1) expect(await deliverQuickly(bench, MEBIBYTE)).toBe(200);
    const cut = slow.map(({ answer }) => answer !== undefined);
    expect(cut.lastIndexOf(true)).toBe(cut.indexOf(false) - 1);
    expect(cut.filter(Boolean)).toHaveLength(10);
  });

  it('refuses a new body when all others are recent, so that those complete', async () => {
    const bench = new InboxBench();
    const quick = slowSenders(bench);
    await bench.advance(249);
    expect(await deliverQuickly(bench, MEBIBYTE)).toBe(503);
    for (const sender of quick) expect((await sender.end())?.status).toBe(200);
  });

  it('refuses the slow body itself when it needs more memory', async () => {
    const bench = new InboxBench();
    const [slow, next] = slowSenders(bench, 128);
    await bench.advance(5000);
    expect(slow?.send(10_000)).toBe(false);
    await turns();
    expect(JSON.parse(slow?.answer?.body ?? '')).toMatchObject({ reason: 'pressure' });
    expect(next?.send(10_000)).toBe(true);
  });

  it('does not cut off a complete body that is being verified', async () => {
    let verified: (verdict: true) => void = () => undefined;
    const verdict = new Promise<true>((resolve) => {
      verified = resolve;
    });
    const bench = new InboxBench({ verify: () => verdict });
    const whole = slowSenders(bench).map((sender) => sender.end());
    await turns();
    await bench.advance(1000);
    expect(await deliverQuickly(bench, MEBIBYTE)).toBe(503);
    verified(true);
    for (const answer of await Promise.all(whole)) expect(answer?.status).toBe(200);
  });

  it('counts the overhead of small chunks', () => {
    const bench = new InboxBench();
    const senders = Array.from({ length: 4 }, () => new SlowSender(bench));
    let chunks = 0;
    while (senders.every((sender) => sender.send(1))) chunks += senders.length;
    expect(chunks * 256).toBeLessThan(64 * MEBIBYTE);
    expect(chunks).toBeGreaterThan(200_000);
  });

  it('counts bodies until a hanging store returns, even after their senders were answered', async () => {
    const store = memoryStore();
    let fail: (error: Error) => void = () => undefined;
    store.put = () =>
      new Promise((_, reject) => {
        fail = reject;
      });
    const bench = new InboxBench({ store });
    const hanging = slowSenders(bench).map((sender) => sender.end());
    await turns();
    await bench.advance(9000);
    for (const answer of await Promise.all(hanging)) expect(answer?.body).toContain('"wait"');
    expect(await deliverQuickly(bench, MEBIBYTE)).toBe(503);
    expect(bench.inbox.snapshot().totals.refused).toMatchObject({ pressure: 1, wait: 64 });
    store.put = (batch) => batch.map(() => 'stored');
    fail(new Error('no answer'));
    await turns();
    await bench.advance(10_000);
    expect(await deliverQuickly(bench, MEBIBYTE)).toBe(200);
  });

  it('does not verify a body that completes after its deadline', async () => {
    let isAsked = false;
    const bench = new InboxBench({
      verify: () => {
        isAsked = true;
        return false;
      },
    });
    const late = new SlowSender(bench);
    late.send(10);
    await bench.advance(9000);
    expect((await late.end())?.body).toContain('"wait"');
    await turns();
    expect([isAsked, bench.inbox.snapshot().totals.unverified]).toEqual([false, 0]);
  });
});

describe('text() and json()', () => {
  const BODY = '\uFEFF{"name":"Ä"}';

  it('keep a byte order mark in the text, and ignore it in JSON', async () => {
    const bench = new InboxBench({
      verify: ({ text, rawBody }) => Buffer.from(text()).equals(rawBody) && text() === BODY,
      id: ({ json }) => (json() as { name: string }).name,
    });
    expect((await bench.deliver(undefined, BODY)).status).toBe(200);
    const { delivery } = bench.last;
    expect([delivery.id, delivery.text(), delivery.json()]).toEqual(['Ä', BODY, { name: 'Ä' }]);
  });

  it('reject JSON with two byte order marks', async () => {
    const bench = new InboxBench();
    await bench.deliver('a', `\uFEFF${BODY}`);
    expect(() => bench.last.delivery.json()).toThrow(SyntaxError);
  });
});
