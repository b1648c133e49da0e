import { senderNames } from '../scenario/known-senders.ts';
import { wrapped } from '../terminal/table.ts';

const OPTIONS: readonly (readonly [name: string, does: string])[] = [
  ['--senders LIST', 'senders with their shares, such as shopify:0.7,github:0.3; unknown: any other sender'],
  ['--service TIME', 'how long a handler takes on average: 80ms, or 80ms:constant (default :exponential)'],
  ['--burst N/TIME', 'the burst to survive: 50000/40s'],
  ['--normal RATE', 'the ordinary traffic: 5/s, 300/min (default none)'],
  ['--concurrency N', 'how many deliveries all receivers together handle concurrently (default 10)'],
  ['--mode MODE', 'hold or inbox: recommends only this one'],
  ['--receivers N', 'the number of receiving processes (default 1)'],
  ['--capacity N', 'sets the option capacity instead of searching it'],
  ['--max-wait TIME', 'sets the option maxWaitMs instead of searching it'],
  ['--timeout TIME', 'of senders whose own timeout is not known (default 15s)'],
  ['--seed N', 'the seed of all random numbers (default 1)'],
  ['--json', 'prints JSON'],
  ['--html FILE', 'also writes a page with the curves'],
  ['--help', 'prints this text'],
  ['--version', 'prints the version'],
];

const TEXT_WIDTH = 98;
const WIDTH = Math.max(...OPTIONS.map(([name]) => name.length)) + 2;

/** The text of `--help`. */
export function help(): string {
  return `Simulates a burst of webhooks on the real queue: without the middleware, with its defaults, and with other options.
Prints what each sender loses, and recommends options.

Usage: webhook-backpressure-planner --senders LIST --service TIME --burst N/TIME [options]
       webhook-backpressure-planner simulate FILE     runs a scenario file, or - for standard input

Options
${OPTIONS.map(([name, does]) => `  ${name.padEnd(WIDTH)}${does}`).join('\n')}

Senders
${wrapped(senderNames().join(', '), TEXT_WIDTH, '')
  .map((line) => `  ${line}`)
  .join('\n')}

Times have a unit: ms, s, min or h.
Exit code: 0 done, 1 failed, 2 wrong usage.`;
}
