import { writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { duration, grouped, senderNames, UsageError } from '@webhook-backpressure/planner/parts';
import { Listener } from '../listen/listener.ts';
import { junitOf } from '../report/junit.ts';
import { reportText } from '../report/text.ts';
import type { Tally } from '../run/volley.ts';
import { type FireCommand, parseCommand } from './arguments.ts';
import { fireAt } from './fire.ts';

/** Where the command reads and writes. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Replaces the line of progress; undefined without a terminal. */
  readonly progress: ((line: string) => void) | undefined;
  readonly columns: number;
  readonly version: string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly seed: number;
}

const DONE = 0;
const EXCEEDED = 1;
const WRONG_USAGE = 2;
const INTERRUPTED = 130;
const PROGRESS_MS = 250;

/** Runs the command line. @returns the exit code. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  const { out, err, version, seed } = terminal;
  try {
    const command = parseCommand(args, seed);
    switch (command.name) {
      case 'help':
        out(help());
        return DONE;
      case 'version':
        out(version);
        return DONE;
      case 'listen':
        return await listen(command.port, command.isJson, terminal);
      case 'fire':
        return await fire(command, terminal);
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    err(error.message);
    return WRONG_USAGE;
  }
}

async function fire(command: FireCommand, { out, progress, columns, signal }: Terminal): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const onStart = (tally: Readonly<Tally>, events: number): void => {
    if (progress === undefined) return;
    timer = setInterval(() => {
      progress(progressOf(tally, events));
    }, PROGRESS_MS);
  };
  try {
    const [report, checks] = await fireAt(command, { signal, onStart });
    progress?.('');
    if (command.junit !== undefined) await writeFile(command.junit, junitOf(report, checks));
    out(command.isJson ? JSON.stringify(report, null, 2) : reportText(report, columns));
    if (signal.aborted) return INTERRUPTED;
    return report.exceeded.length > 0 ? EXCEEDED : DONE;
  } finally {
    clearInterval(timer);
  }
}

function progressOf(tally: Readonly<Tally>, events: number): string {
  const { delivered, lost, attempts, inFlight, nextInMs } = tally;
  const counts = `${grouped(delivered)} of ${grouped(events)} delivered, ${grouped(lost)} lost, ${grouped(attempts)} attempts`;
  const isWaiting = inFlight === 0 && nextInMs > PROGRESS_MS && nextInMs < Infinity;
  return `${counts}, ${isWaiting ? `the next in ${duration(nextInMs / 1000)}` : `${grouped(inFlight)} under way`}`;
}

async function listen(port: number, isJson: boolean, { out, err, signal }: Terminal): Promise<number> {
  const { server, received } = new Listener(isJson ? (): void => undefined : out);
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    throw new UsageError(
      `--listen cannot use the port ${String(port)}: ${(error as NodeJS.ErrnoException).code ?? ''}.`,
    );
  }
  err(`Listening on http://127.0.0.1:${String((server.address() as AddressInfo).port)}/. Ctrl-C ends it.`);
  if (!signal.aborted) await once(signal, 'abort');
  server.closeAllConnections();
  server.close();
  if (isJson) out(JSON.stringify(received, null, 2));
  for (const [sender, { requests, events, repeated }] of isJson ? [] : Object.entries(received)) {
    out(
      `${sender}: ${grouped(requests)} requests, ${grouped(events)} events, ${grouped(repeated)} with an id seen before`,
    );
  }
  return DONE;
}

const OPTIONS: readonly (readonly [string, string])[] = [
  ['--as LIST', 'senders with their shares: stripe:0.5,github:0.5, or stripe:7,github:3'],
  [
    '--secret TEXT',
    'the secret of all senders, or stripe=whsec_…,github=…; without one, requests are unsigned',
  ],
  ['--burst N/TIME', 'deliveries in a time: 2000/5s'],
  ['--normal RATE', 'ordinary traffic beside it: 5/s, 300/min (default none)'],
  ['--for TIME', 'no attempt starts later (default: until each delivery is acknowledged or given up)'],
  ['--speed N', 'divides the waits of the senders and the time of the burst, 1 to 1000000 (default 1)'],
  ['--service TIME', 'how long your handler takes, to show what the planner predicts: 80ms'],
  ['--concurrency N', 'how many deliveries it handles concurrently, with --service (default 10)'],
  ['--max-lost N', 'exit code 1 if more are lost, or open at the end'],
  ['--max-p99 TIME', 'exit code 1 if the p99 from first attempt to acknowledgement is above: 2s'],
  ['--json', 'prints JSON'],
  ['--junit FILE', 'also writes a report for CI'],
  ['--i-own HOST', 'sends to a host that is neither this machine nor private: up to 100000, 1000/s'],
  ['--listen [PORT]', 'instead: receives on 127.0.0.1, and prints what comes'],
  ['--help', 'prints this text'],
  ['--version', 'prints the version'],
];

const WIDTH = Math.max(...OPTIONS.map(([name]) => name.length)) + 2;
const PER_LINE = 7;

/** The text of `--help`. */
function help(): string {
  const names = senderNames();
  const lines = names.flatMap((_, at) =>
    at % PER_LINE === 0 ? [names.slice(at, at + PER_LINE).join(', ')] : [],
  );
  return `Sends bursts of webhooks to an endpoint as real senders do: signed, with their timeouts, retries and rules.

Usage: webhook-backpressure-fire URL --as LIST --burst N/TIME [options]
       webhook-backpressure-fire --listen [PORT]

Options
${OPTIONS.map(([name, does]) => `  ${name.padEnd(WIDTH)}${does}`).join('\n')}

Senders
${lines.map((line) => `  ${line}`).join(',\n')}

Times have a unit, ms, s, min or h, and are those of the senders. Ctrl-C ends a run with its report so far.
Exit code: 0 done, 1 a limit was exceeded, 2 wrong usage, 130 interrupted.`;
}
