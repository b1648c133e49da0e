import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import { BackpressureError, inBackground } from '@webhook-backpressure/base';
import type { Awaitable } from '@webhook-backpressure/inbox';
import { unpackError, type Reply, type Request, type ThreadData } from './protocol.ts';

type Call = Request['call'];

/** The result of a call, or its error. */
export type Outcome = { readonly result: unknown; readonly error?: undefined } | { readonly error: Error };

/** One thread, from its start to its end. It answers calls in order. */
export class StoreThread {
  /** Resolves when the thread has ended and released the file. */
  readonly #ended: Promise<void>;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #path: string;
  readonly #calls = new Map<number, (outcome: Outcome) => void>();
  #count = 0;
  #failure: unknown;
  #hasEnded = false;

  constructor(data: ThreadData) {
    const { port1, port2 } = new MessageChannel();
    this.#path = data.settings.path;
    this.#port = port1;
    // Bundlers find the file by this exact expression.
    this.#worker = new Worker(new URL('./thread.js', import.meta.url), {
      workerData: { ...data, port: port2 },
      transferList: [port2],
      execArgv: inheritedFlags(),
    });
    port1.on('message', this.#take);
    // Otherwise the call of a reply that cannot be read would never end.
    port1.on('messageerror', (error) => {
      this.#failure = error;
      inBackground(this.#worker.terminate());
    });
    port1.unref();
    this.#worker.on('error', (error: unknown) => {
      this.#failure = error;
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#end(code);
        resolve();
      });
    });
    // The thread keeps the process alive only during calls.
    this.#worker.unref();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Rejects when the call cannot be sent. */
  call(call: Call, args: readonly unknown[], transfer: readonly ArrayBuffer[] = []): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#send({ call, args }, transfer, resolve);
    });
  }

  /** Blocks the event loop until the call is answered, for at most `ms`. After that, it returns a promise. */
  callBlocking(call: Call, args: readonly unknown[], ms: number): Awaitable<Outcome> {
    const answered = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    let outcome: Outcome | undefined;
    const later = new Promise<Outcome>((resolve) => {
      this.#send({ call, args, answered }, [], (ended) => {
        outcome = ended;
        resolve(ended);
      });
    });
    try {
      Atomics.wait(answered, 0, 0, ms);
    } catch {
      // On some runtimes the main thread cannot wait.
      return later;
    }
    this.#readAll();
    return outcome ?? later;
  }

  /** Waits for the thread to end, after `close`. */
  async waitForEnd(): Promise<void> {
    this.#worker.ref();
    await this.#ended;
  }

  /** Terminates the thread. */
  async stop(): Promise<void> {
    await Promise.all([this.waitForEnd(), this.#worker.terminate()]);
  }

  #send(
    request: Omit<Request, 'number'>,
    transfer: readonly ArrayBuffer[],
    onEnd: (outcome: Outcome) => void,
  ): void {
    const number = (this.#count += 1);
    this.#port.postMessage({ ...request, number } satisfies Request, transfer);
    if (this.#calls.size === 0) this.#worker.ref();
    this.#calls.set(number, onEnd);
  }

  /** Reads replies that the event loop has not delivered yet. */
  #readAll(): void {
    for (
      let got = receiveMessageOnPort(this.#port);
      got !== undefined;
      got = receiveMessageOnPort(this.#port)
    )
      this.#take(got.message as Reply);
  }

  readonly #take = (reply: Reply): void => {
    const onEnd = this.#calls.get(reply.number);
    if (onEnd === undefined) return;
    this.#calls.delete(reply.number);
    if (this.#calls.size === 0) this.#worker.unref();
    onEnd(reply.error === undefined ? { result: reply.result } : { error: unpackError(reply.error) });
  };

  #end(code: number): void {
    this.#readAll();
    this.#hasEnded = true;
    this.#failure ??= new Error(`The thread exited with code ${String(code)}.`);
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const onEnd of calls) {
      const error = new BackpressureError(
        'ERR_WBP_SQLITE_THREAD_ENDED',
        `The thread of ${this.#path} ended during the call, so its effect is unknown. The next call starts a new thread.`,
        { cause: this.#failure },
      );
      onEnd({ error });
    }
  }
}

/**
 * A thread inherits the flags of its process, but Node starts no file in a thread with `--input-type`, the flag of a
 * program from standard input or `--eval`. The other flags cannot be passed on without it: Node accepts some of them,
 * such as `--max-old-space-size`, only when they are inherited.
 *
 * @returns undefined to inherit all flags.
 */
function inheritedFlags(): string[] | undefined {
  return process.execArgv.some((flag) => flag.startsWith('--input-type')) ? [] : undefined;
}
