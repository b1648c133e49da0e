import { createServer } from 'node:http';
import { createIntake } from '@webhook-backpressure/core';
import { webhookBackpressure } from '@webhook-backpressure/express';
import { closeOnSignals } from '@webhook-backpressure/node';
import { afterEach, describe, expect, it } from 'vitest';
import { Child } from './closing-child.ts';

describe('a process that gets a signal', () => {
  let child: Child;
  afterEach(() => child.stop());

  it('refuses new deliveries, finishes admitted ones, and ends with the signal', async () => {
    child = await new Child('closing').start();
    const handled = await child.send();
    const waiting = await child.send();
    const skipped = await child.send({ method: 'GET' });
    await child.signal();

    const refused = await (await child.send()).reply;
    expect(refused.status).toBe(503);
    expect(refused.headers.connection).toBe('close');
    expect(JSON.parse(refused.body)).toMatchObject({ reason: 'closing' });

    for (const call of [handled, skipped, waiting]) {
      child.goOn();
      expect((await call.reply).body).toBe('done');
    }
    expect(await child.next('closed')).toEqual({ completed: 2, refused: 0, remaining: 0 });
    expect(await child.exit).toEqual([null, 'SIGTERM']);
  });

  it('finishes requests that no intake counts, after the intake has closed', async () => {
    child = await new Child('closing').start();
    const skipped = await child.send({ method: 'GET' });
    child.process.kill('SIGTERM');
    expect(await child.next('closed')).toEqual({ completed: 0, refused: 0, remaining: 0 });
    child.goOn();
    expect((await skipped.reply).body).toBe('done');
    expect(await child.exit).toEqual([null, 'SIGTERM']);
  });

  it('ends after the timeout when requests hang', async () => {
    child = await new Child('closing', '1').start();
    await child.send();
    const waiting = await child.send();
    child.process.kill('SIGTERM');
    expect((await waiting.reply).status).toBe(503);
    expect(await child.next('closed')).toEqual({ completed: 0, refused: 1, remaining: 1 });
    expect(await child.exit).toEqual([null, 'SIGTERM']);
  });

  it('ends immediately at the second signal', async () => {
    child = await new Child('closing').start();
    const handled = await child.send();
    await child.signal();
    child.process.kill('SIGTERM');
    expect(await child.exit).toEqual([null, 'SIGTERM']);
    await expect(handled.reply).rejects.toThrow();
  });

  it('ends when the signal has other listeners', async () => {
    child = await new Child('closing', '1', 'not alone').start();
    await child.send();
    child.process.kill('SIGTERM');
    expect(await child.next('closed')).toEqual({ completed: 0, refused: 0, remaining: 1 });
    expect(await child.exit).toEqual([143, null]);
  });

  describe('as PID 1, which no signal ends', () => {
    it('exits with 128 plus the number of the signal', async () => {
      child = await new Child('closing', '1', 'first process').start();
      await child.send();
      child.process.kill('SIGTERM');
      expect(await child.next('closed')).toEqual({ completed: 0, refused: 0, remaining: 1 });
      expect(await child.exit).toEqual([143, null]);
    });

    it('exits immediately at the second signal', async () => {
      child = await new Child('closing', '60000', 'first process').start();
      const handled = await child.send();
      await child.signal();
      child.process.kill('SIGTERM');
      expect(await child.exit).toEqual([143, null]);
      await expect(handled.reply).rejects.toThrow();
    });
  });
});

describe('closeOnSignals', () => {
  it('removes its listeners when it is undone', () => {
    const before = process.listenerCount('SIGTERM');
    const remove = closeOnSignals(createIntake(), { signals: ['SIGTERM'] });
    expect(process.listenerCount('SIGTERM')).toBe(before + 1);
    remove();
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });

  it('listens once for all calls, until the last one is undone', () => {
    const listeners = (): number[] => ['SIGTERM', 'SIGINT'].map((signal) => process.listenerCount(signal));
    const [terms = 0, ints = 0] = listeners();
    const removeFirst = closeOnSignals(createIntake());
    const removeSecond = closeOnSignals([createIntake()], { signals: ['SIGINT'] });
    expect(listeners()).toEqual([terms + 1, ints + 1]);
    removeFirst();
    removeFirst();
    expect(listeners()).toEqual([terms, ints + 1]);
    removeSecond();
    expect(listeners()).toEqual([terms, ints]);
  });

  it.each<[unknown, string]>([
    [{ signals: [] }, 'signals must be a non-empty array of signals that a process can handle, but was [].'],
    [{ signals: ['SIGKILL'] }, "but was [ 'SIGKILL' ]."],
    [{ signals: ['TERM'] }, "but was [ 'TERM' ]."],
    [{ signals: 'SIGTERM' }, "but was 'SIGTERM'."],
    [{ timeoutMs: -1 }, 'timeoutMs must be a number of milliseconds from 0 to 86,400,000, but was -1.'],
    [{ timeoutMs: NaN }, 'but was NaN'],
    [{ timeoutMs: '5' }, "but was '5'"],
    [{ timeoutMs: null }, 'but was null'],
    [{ drainDelayMs: -1 }, 'drainDelayMs must be a number of milliseconds from 0 to 86,400,000, but was -1.'],
    [{ drainDelayMs: Infinity }, 'but was Infinity'],
    [
      { server: {} },
      'server must be an HTTP server, such as app.listen() returns, or an array of them, but was {}.',
    ],
    [{ server: null }, 'but was null'],
    // An Express app is a function with 50 methods.
    [{ server: Object.assign(() => undefined, { listen: () => undefined }) }, 'but was a function.'],
    [{ server: [createServer(), undefined] }, 'but was undefined'],
    [{ onClosed: 5 }, 'onClosed must be a function, but was 5.'],
    [{ timeout: 20_000 }, 'Unknown option "timeout". Did you mean "timeoutMs"?'],
    [null, 'options must be an object, but was null.'],
  ])('throws immediately for the options %o', (options, message) => {
    const before = process.listenerCount('SIGTERM');
    expect(() => closeOnSignals(createIntake(), options as object)).toThrow(message);
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'but was given undefined.'],
    ['an empty array', [], 'was given an empty array.'],
    ['a server', createServer(), 'requires an intake, an inbox, or an array of them'],
    ['a middleware', webhookBackpressure(), 'but was given a function. Pass its .intake instead.'],
    ['an invalid source among valid ones', [createIntake(), {}], 'but was given {}.'],
  ])('throws immediately for %s', (_name, sources, message) => {
    expect(() => closeOnSignals(sources as never)).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_CLOSE', message: expect.stringContaining(message) as string }),
    );
  });
});
