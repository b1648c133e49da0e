import { fork, type ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createIntake, type CloseReport } from '@webhook-backpressure/core';
import { closeOnSignals } from '@webhook-backpressure/node';
import { afterEach, describe, expect, it } from 'vitest';
import { Sender, type Call, type Sent } from '../conformance/sender.ts';

interface Message {
  readonly address?: AddressInfo;
  readonly asked?: string;
  readonly closed?: CloseReport;
}

/** The child, and what it has said. */
class Child {
  readonly process: ChildProcess;
  readonly sender: Sender = new Sender();
  readonly exit: Promise<unknown[]>;
  readonly #messages: AsyncIterator<unknown[]>;
  #port = 0;

  constructor(...args: string[]) {
    // Without the conditions under which the tests take our packages from their sources.
    this.process = fork(join(import.meta.dirname, 'children/closing.js'), args, { execArgv: [] });
    this.exit = once(this.process, 'exit');
    const over = new AbortController();
    this.process.once('exit', () => {
      over.abort();
    });
    this.#messages = on(this.process, 'message', { signal: over.signal })[
      Symbol.asyncIterator
    ]() as AsyncIterator<unknown[]>;
  }

  async start(): Promise<this> {
    this.#port = (await this.next('address')).port;
    return this;
  }

  /** What the next message of this kind says. */
  async next<K extends keyof Message>(kind: K): Promise<NonNullable<Message[K]>> {
    for (;;) {
      const { value } = (await this.#messages.next()) as IteratorYieldResult<[Message]>;
      const said = value[0][kind];
      if (said !== undefined) return said;
    }
  }

  /** Sends a request and waits until the child has dealt with it. */
  async send(sent?: Sent): Promise<Call> {
    const call = this.sender.send(this.#port, sent);
    await this.next('asked');
    return call;
  }

  /** Signals, and waits until the intake is closing. */
  async signal(): Promise<void> {
    this.process.kill('SIGTERM');
    for (;;) {
      const { body } = await (await this.send({ method: 'GET', path: '/state' })).reply;
      if (body === 'closing') return;
    }
  }

  goOn(): void {
    this.process.send('go on');
  }

  async stop(): Promise<void> {
    this.sender.destroy();
    this.process.kill('SIGKILL');
    await this.exit;
  }
}

describe('a process that is told to end', () => {
  let child: Child;
  afterEach(() => child.stop());

  it('refuses what comes, finishes all that it has begun or let in, and ends by the signal', async () => {
    child = await new Child().start();
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

  it('finishes what the intake does not count, after it has closed', async () => {
    child = await new Child().start();
    const skipped = await child.send({ method: 'GET' });
    child.process.kill('SIGTERM');
    expect(await child.next('closed')).toEqual({ completed: 0, refused: 0, remaining: 0 });
    child.goOn();
    expect((await skipped.reply).body).toBe('done');
    expect(await child.exit).toEqual([null, 'SIGTERM']);
  });

  it('ends after the timeout, whatever hangs', async () => {
    child = await new Child('1').start();
    await child.send();
    const waiting = await child.send();
    child.process.kill('SIGTERM');
    expect((await waiting.reply).status).toBe(503);
    expect(await child.next('closed')).toEqual({ completed: 0, refused: 1, remaining: 1 });
    expect(await child.exit).toEqual([null, 'SIGTERM']);
  });

  it('ends at once at the second signal', async () => {
    child = await new Child().start();
    const handled = await child.send();
    await child.signal();
    child.process.kill('SIGTERM');
    expect(await child.exit).toEqual([null, 'SIGTERM']);
    await expect(handled.reply).rejects.toThrow();
  });

  it('ends where somebody else listens to the signal too', async () => {
    child = await new Child('1', 'not alone').start();
    await child.send();
    child.process.kill('SIGTERM');
    expect(await child.next('closed')).toEqual({ completed: 0, refused: 0, remaining: 1 });
    expect(await child.exit).toEqual([143, null]);
  });

  describe('and is the first one of a container, which no signal ends', () => {
    it('exits as if by the signal', async () => {
      child = await new Child('1', 'first process').start();
      await child.send();
      child.process.kill('SIGTERM');
      expect(await child.next('closed')).toEqual({ completed: 0, refused: 0, remaining: 1 });
      expect(await child.exit).toEqual([143, null]);
    });

    it('exits at once at the second signal', async () => {
      child = await new Child('60000', 'first process').start();
      const handled = await child.send();
      await child.signal();
      child.process.kill('SIGTERM');
      expect(await child.exit).toEqual([143, null]);
      await expect(handled.reply).rejects.toThrow();
    });
  });
});

describe('closeOnSignals', () => {
  it('takes its handlers away again', () => {
    const before = process.listenerCount('SIGTERM');
    const remove = closeOnSignals(createIntake(), { signals: ['SIGTERM'] });
    expect(process.listenerCount('SIGTERM')).toBe(before + 1);
    remove();
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });

  it.each<[object, string]>([
    [{ signals: [] }, 'signals must name at least one signal.'],
    [{ timeoutMs: -1 }, 'timeoutMs must be a number'],
    [{ timeoutMs: NaN }, 'but is NaN'],
    [{ timeout: 20_000 }, 'closeOnSignals has no option "timeout"'],
  ])('throws at once for %o', (options, message) => {
    expect(() => closeOnSignals(createIntake(), options)).toThrow(message);
  });
});
