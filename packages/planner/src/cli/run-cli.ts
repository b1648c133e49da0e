import { existsSync } from 'node:fs';
import { writeFile, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { duration } from '../base/format.ts';
import { renderPage } from '../output/page.ts';
import { renderAnswer, type Terminal, wrapped } from '../output/terminal.ts';
import { optionsText } from '../output/text.ts';
import { simulateAll } from '../results/simulate.ts';
import { ScenarioError } from '../scenario/fields.ts';
import { senderNames } from '../scenario/sender.ts';
import { plan } from '../search/make-plan.ts';
import type { Configuration } from '../search/plan.ts';
import { parseCommand, type Command } from './arguments.ts';
import { UsageError } from './request-texts.ts';

/** Where a command reads and writes. */
interface Surroundings {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly terminal: Terminal;
  readonly version: string;
  /** The time in milliseconds, for reports of progress. */
  readonly now: () => number;
}

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Runs the command line. @returns the exit code. */
export async function runCli(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { out, err } = surroundings;
  try {
    const command = parseCommand(args);
    out(await outputOf(command, surroundings));
    return DONE;
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof ScenarioError)) throw error;
    err(error.message);
    return error instanceof UsageError ? WRONG_USAGE : FAILED;
  }
}

async function writePage(file: string, page: string): Promise<void> {
  await writeFile(file, page).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The page cannot be written: ${reason}.`);
  });
}

async function outputOf(command: Command, { err, terminal, version, now }: Surroundings): Promise<string> {
  switch (command.name) {
    case 'help':
      return help();
    case 'version':
      return version;
    case 'simulate':
      return simulateFile(command.file);
    case 'plan': {
      const progress = new Progress(err, now);
      const planned = await plan(command.request, progress);
      progress.end();
      if (command.html !== undefined) await writePage(command.html, renderPage(planned));
      return command.isJson ? JSON.stringify(planned, null, 2) : renderAnswer(planned, terminal);
    }
  }
}

const OPTIONS: readonly (readonly [name: string, does: string])[] = [
  [
    '--senders LIST',
    'senders with their shares: shopify:0.7,github:0.3, or shopify:7,github:3; unknown: any other',
  ],
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
function help(): string {
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

/** Faster answers need no report. */
const SILENT_MS = 1000;

/** Reports the simulations of an answer that takes longer than a second. */
class Progress {
  readonly #report: (text: string) => void;
  readonly #now: () => number;
  readonly #startedMs: number;

  /** @param now - the time, in milliseconds. */
  constructor(report: (text: string) => void, now: () => number) {
    this.#report = report;
    this.#now = now;
    this.#startedMs = now();
  }

  readonly onRun = ({ mode, options, concurrency }: Configuration, run: number): void => {
    if (this.#passedMs() < SILENT_MS) return;
    const shown = mode === 'none' ? 'no middleware' : mode;
    this.#report(
      `Simulating configuration ${String(run)}: ${shown}, ${optionsText({ concurrency, ...options })}`,
    );
  };

  end(): void {
    if (this.#passedMs() >= SILENT_MS) this.#report(`Took ${duration(this.#passedMs() / 1000)}.`);
  }

  #passedMs(): number {
    return this.#now() - this.#startedMs;
  }
}

/** Runs a scenario file, or that of standard input, and returns its results as JSON. */
async function simulateFile(file: string): Promise<string> {
  const { results } = await simulateAll(parse(await read(file)));
  return JSON.stringify(results, null, 2);
}

async function read(source: string): Promise<string> {
  if (source === '-') return text(process.stdin);
  // npm runs the scripts of a package in its folder, and INIT_CWD is the folder of the user.
  const places = [resolve(source), resolve(process.env['INIT_CWD'] ?? '.', source)];
  const file = places.find((place) => existsSync(place));
  if (file === undefined) throw new ScenarioError(`The scenario ${source} does not exist.`);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ScenarioError(`The scenario ${source} cannot be read: ${reasonOf(error)}.`);
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    throw new ScenarioError(`The scenario is not JSON: ${reasonOf(error)}.`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error);
}
