import { fork, type ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CloseReport } from '@webhook-backpressure/core';
import { Sender, type Call, type Sent } from '../conformance/sender.ts';

interface Message {
  readonly address?: AddressInfo;
  readonly other?: AddressInfo;
  readonly asked?: string;
  readonly closed?: CloseReport;
}

/** A receiver in a separate process, and its messages. */
export class Child {
  readonly process: ChildProcess;
  readonly sender: Sender = new Sender();
  readonly exit: Promise<unknown[]>;
  readonly #messages: AsyncIterator<unknown[]>;
  port = 0;

  constructor(script: string, ...args: string[]) {
    // Without the export condition by which tests import our packages from their sources.
    this.process = fork(join(import.meta.dirname, `children/${script}.js`), args, { execArgv: [] });
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
    this.port = (await this.next('address')).port;
    return this;
  }

  /** The next message of this kind. */
  async next<K extends keyof Message>(kind: K): Promise<NonNullable<Message[K]>> {
    for (;;) {
      const { value } = (await this.#messages.next()) as IteratorYieldResult<[Message]>;
      const said = value[0][kind];
      if (said !== undefined) return said;
    }
  }

  /** Sends a request and waits until the child reports it. */
  async send(sent?: Sent): Promise<Call> {
    const call = this.sender.send(this.port, sent);
    await this.next('asked');
    return call;
  }

  /** Sends a signal and waits until the intake is closing. */
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
