import { fork, type ChildProcess } from 'node:child_process';
import type { Message } from './messages.ts';

/** The demo's end of the channel to a child process. */
export interface Child<Orders, Reports> {
  /** Sends an order and waits for the report. */
  ask<Order extends keyof Orders, Report extends keyof Reports>(
    order: Order,
    body: Orders[Order],
    report: Report,
  ): Promise<Reports[Report]>;
  /** Sends an order that asks for no report. */
  send<Order extends keyof Orders>(order: Order, body: Orders[Order]): void;
  readonly pid: number;
  on<Report extends keyof Reports>(report: Report, listener: (body: Reports[Report]) => void): void;
  /** Kills the child (SIGKILL), and waits until it has ended. */
  kill(): Promise<void>;
  /** Never resolves; rejects when the child ends, for whatever reason. */
  readonly ended: Promise<never>;
}

const running = new Set<ChildProcess>();

// The children do not outlive the demo, not even after an uncaught error.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** @param file - a module beside this one. */
export function startChild<Orders, Reports>(file: string): Child<Orders, Reports> {
  const child = fork(new URL(file, import.meta.url));
  running.add(child);

  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      running.delete(child);
      reject(new Error(`${file} (process ${String(child.pid)}) ended early: ${String(signal ?? code)}.`));
    });
  });
  // Only callers that wait for the child see the rejection.
  ended.catch(() => undefined);

  const on: Child<Orders, Reports>['on'] = (type, listener) => {
    child.on('message', (message) => {
      const report = message as Message<Reports>;
      if (report.type === type) listener(report.body as Reports[typeof type]);
    });
  };
  const send: Child<Orders, Reports>['send'] = (order, body) => {
    // A failure shows in `ended`.
    child.send({ type: order, body }, () => undefined);
  };
  return {
    ask(order, body, report) {
      return new Promise((resolve, reject) => {
        on(report, resolve);
        ended.catch(reject);
        send(order, body);
      });
    },
    send,
    // A process that could not be started has none, and `ended` says so.
    pid: child.pid ?? 0,
    on,
    async kill() {
      child.kill('SIGKILL');
      await ended.catch(() => undefined);
    },
    ended,
  };
}

/** Ends all children, by their process ids, and waits until they are gone. */
export async function endChildren(): Promise<void> {
  const exits = [...running].map(
    (child) =>
      new Promise<void>((resolve) => {
        child.once('exit', () => {
          resolve();
        });
      }),
  );
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(exits);
}
