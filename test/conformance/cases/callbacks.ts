import { describe, expect, it, vi } from 'vitest';
import { expectRefusal, REFUSALS } from '../answers.ts';
import type { SuiteOptions } from '../exchange.ts';
import { held } from '../held.ts';
import type { Start } from '../receiver.ts';

const HANDSHAKE = { method: 'OPTIONS', headers: { 'webhook-request-origin': 'events.example.com' } };
const SMALLEST = { concurrency: 1, capacity: 1 };
const never = new Promise<never>(() => undefined);

/** The callbacks among the options: valid results, invalid results and failures. */
export function callbacks(start: Start): void {
  /** Expects the framework's error handler to be called, and the next request to succeed. */
  async function expectFailure(options: SuiteOptions, message: string): Promise<void> {
    const receiver = await start(options);
    const { status } = await receiver.send({ headers: { 'x-bad': 'yes' } }).reply;
    expect(status).toBe(500);
    expect(receiver.errors.map(String)).toEqual([expect.stringContaining(message)]);
    expect(receiver.handled).toHaveLength(0);
    expect(receiver.snapshot.totals.admitted).toBe(0);
    expect((await receiver.send().reply).status).toBe(200);
  }

  /** Fails only for requests with the header `x-bad`. */
  const whenBad =
    <T>(value: T, fail: () => T) =>
    (asked: { header(name: string): string | undefined }): T =>
      asked.header('x-bad') === undefined ? value : fail();
  const fail = (): never => {
    throw new Error('callback failed');
  };

  describe('skip', () => {
    it.each(['GET', 'HEAD', 'OPTIONS'])(
      'skips %s by default, even when the queue is full',
      async (method) => {
        const { handle, release } = held();
        const receiver = await start(SMALLEST, { handle });
        await receiver.sendToHandle();
        await receiver.sendToWait();
        const passing = await receiver.sendToHandle({ method });
        expect(receiver.handled[1]?.info).toBe(undefined);
        expect(receiver.snapshot.totals.admitted).toBe(2);
        release();
        release();
        expect((await passing.reply).status).toBe(200);
      },
    );

    it.each([
      ['synchronously', (skips: boolean) => skips],
      ['asynchronously', (skips: boolean) => Promise.resolve(skips)],
    ])('decides %s which requests are deliveries', async (_when, wrapped) => {
      const receiver = await start({ skip: (asked) => wrapped(asked.method === 'POST') });
      expect((await receiver.send({ body: 'paid' }).reply).body).toBe('paid');
      expect((await receiver.send({ method: 'GET' }).reply).status).toBe(200);
      expect(receiver.handled.map(({ info }) => info?.key)).toEqual([undefined, 'default']);
      expect(receiver.snapshot.totals.admitted).toBe(1);
    });

    it.each([
      ['by default', {}],
      ['where skip does not skip it', { skip: () => false }],
      ['where skip resolves to false', { skip: () => Promise.resolve(false) }],
    ])('answers the handshake of a CloudEvents sender %s', async (_when, options) => {
      const receiver = await start({ ...options, ...SMALLEST });
      expect((await receiver.send().reply).status).toBe(200);
      const { status, headers, body } = await receiver.send(HANDSHAKE).reply;
      expect([status, body]).toEqual([200, '']);
      expect(headers).toMatchObject({
        allow: 'POST',
        'webhook-allowed-origin': '*',
        'webhook-allowed-rate': expect.stringMatching(/^(?:\*|[1-9]\d*)$/) as string,
      });
      expect(receiver.handled).toHaveLength(1);
      expect(receiver.snapshot.totals.admitted).toBe(1);
      expect((await receiver.send().reply).status).toBe(200);
    });

    it('answers 403 to the handshake of an origin that is not allowed', async () => {
      const receiver = await start({ allowedOrigins: ['other.example.com'] });
      const { status, headers, body } = await receiver.send(HANDSHAKE).reply;
      expect([status, body, headers['webhook-allowed-origin']]).toEqual([403, '', undefined]);
      expect(receiver.handled).toHaveLength(0);
    });

    it('lets the handshake pass where skip skips it, or path is another one', async () => {
      for (const options of [{ skip: () => true }, { path: '/elsewhere' }]) {
        const receiver = await start(options);
        expect((await receiver.send(HANDSHAKE).reply).status).toBe(200);
        expect(receiver.handled.map(({ info }) => info)).toEqual([undefined]);
      }
    });

    it('passes what it throws to the error handler', () =>
      expectFailure({ skip: whenBad(false, fail) }, 'callback failed'));
    it('passes its rejection to the error handler', () =>
      expectFailure(
        {
          skip: whenBad<boolean | Promise<boolean>>(false, () =>
            Promise.reject(new Error('callback failed')),
          ),
        },
        'callback failed',
      ));

    it('holds up only its own request when it never settles', async () => {
      const receiver = await start({ skip: whenBad<boolean | Promise<boolean>>(false, () => never) });
      const stuck = receiver.send({ headers: { 'x-bad': 'yes' } });
      expect((await receiver.send().reply).status).toBe(200);
      stuck.vanish();
      expect(receiver.snapshot.totals.admitted).toBe(1);
    });

    it('admits nothing when it settles after the sender has disconnected', async () => {
      let decide: (skips: boolean) => void = () => undefined;
      const decision = new Promise<boolean>((resolve) => (decide = resolve));
      const receiver = await start({ skip: whenBad<boolean | Promise<boolean>>(false, () => decision) });
      const gone = receiver.send({ headers: { 'x-bad': 'yes' } });
      await receiver.whenAsked(1);
      gone.vanish();
      await receiver.whenClosed(0);
      decide(false);
      expect((await receiver.send().reply).status).toBe(200);
      expect(receiver.handled).toHaveLength(1);
      expect(receiver.snapshot.totals.admitted).toBe(1);
    });
  });

  describe.each(['keyGenerator', 'delivery'] as const)('%s', (name) => {
    const valueOf = (key: string): unknown => (name === 'keyGenerator' ? key : { key });
    const options = (
      key: (asked: { header(name: string): string | undefined }) => unknown,
    ): SuiteOptions => ({
      [name]: key,
    });

    const message = `${name}() must return ${name === 'delivery' ? 'an object' : 'a string or undefined'}, but returned a promise.`;

    it('passes what it throws to the error handler', () =>
      expectFailure(options(whenBad(valueOf('shop'), fail)), 'callback failed'));
    it('rejects a promise', () =>
      expectFailure(options(whenBad(valueOf('shop'), () => Promise.resolve(valueOf('shop')))), message));
    it('rejects a promise that rejects', () =>
      expectFailure(
        options(whenBad(valueOf('shop'), () => Promise.reject(new Error('unhandled')))),
        message,
      ));
    it('rejects a promise that never settles', () =>
      expectFailure(options(whenBad(valueOf('shop'), () => never)), message));
    it.each([
      ['__proto__', '__proto__'],
      ['constructor', 'constructor'],
      ['empty', ''],
      ['1 MB long', 'k'.repeat(1_000_000)],
    ])('accepts an unusual key: %s', async (_which, key) => {
      const { handle, release } = held();
      const receiver = await start({ ...SMALLEST, ...options(() => valueOf(key)) }, { handle });
      const first = await receiver.sendToHandle();
      const second = await receiver.sendToWait();
      expect(receiver.snapshot.keys).toBe(1);
      await expectRefusal(receiver.send().reply, REFUSALS.full429);
      release();
      await receiver.whenHandled(2);
      release();
      expect([(await first.reply).status, (await second.reply).status]).toEqual([200, 200]);
    });
  });

  it.each([7, null, ['a'], { a: 1 }])('uses the default key when keyGenerator returns %j', async (answer) => {
    const shown = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const receiver = await start({ keyGenerator: () => answer as unknown as string });
    for (let i = 0; i < 3; i += 1) expect((await receiver.send().reply).status).toBe(200);
    expect(receiver.handled.map(({ info }) => info?.key)).toEqual(['default', 'default', 'default']);
    const warnings = [...receiver.errors, ...shown.mock.calls.map(([first]) => first as unknown)].map(String);
    shown.mockRestore();
    const warning = expect.stringContaining('keyGenerator() must return a string or undefined') as string;
    expect(warnings).toEqual(answer === null ? [] : [warning]);
  });

  it('rejects an invalid key from the option delivery', () =>
    expectFailure(
      { delivery: whenBad({ key: 'shop' }, () => ({ key: 7 as unknown as string })) },
      'a string',
    ));

  describe('handler', () => {
    async function full(options: SuiteOptions): Promise<Awaited<ReturnType<Start>>> {
      const receiver = await start({ ...SMALLEST, ...options }, held());
      await receiver.sendToHandle();
      await receiver.sendToWait();
      return receiver;
    }

    it('responds to a refusal', async () => {
      const receiver = await full({
        standardHeaders: 'draft-8',
        onRefused(refusal, exchange) {
          exchange.answer(418, `${refusal.reason} for ${String(refusal.retryAfterSeconds)} s`);
        },
      });
      const { status, body, headers } = await receiver.send().reply;
      expect([status, body]).toEqual([418, 'full for 5 s']);
      expect(headers['retry-after']).toBe(undefined);
      expect(headers).toMatchObject({ ratelimit: '"queue";r=0;t=5' });
      expect(receiver.handled).toHaveLength(1);
    });

    it('responds to a refusal after a wait', async () => {
      const receiver = await start(
        {
          ...SMALLEST,
          onRefused: (refusal, exchange) => {
            exchange.answer(418, refusal.reason);
          },
        },
        held(),
      );
      await receiver.sendToHandle();
      const waiting = await receiver.sendToWait();
      receiver.clock.advance(10_100);
      expect((await waiting.reply).body).toBe('wait');
    });

    it.each([
      ['what it throws', fail],
      ['its rejection', () => Promise.reject(new Error('callback failed'))],
    ])('passes %s to the error handler', async (_how, handler) => {
      const receiver = await full({ onRefused: handler });
      expect((await receiver.send().reply).status).toBe(500);
      expect(receiver.errors.map(String)).toEqual([expect.stringContaining('callback failed')]);
      receiver.clock.advance(10_100);
      await receiver.when(({ depth }) => depth === 0);
    });

    it('holds up only its own request when it never responds', async () => {
      const receiver = await full({ onRefused: () => never });
      const stuck = receiver.send();
      await receiver.when(({ totals }) => totals.refused.full === 1);
      expect((await receiver.sendToHandle({ method: 'GET' })).request.destroyed).toBe(false);
      stuck.vanish();
      expect(receiver.snapshot).toMatchObject({ active: 1, depth: 1 });
    });
  });
}
