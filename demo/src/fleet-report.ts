import type { FleetMoment, FleetResult } from './fleet-run.ts';
import { count } from './format.ts';
import { FLEET, POOL } from './setup.ts';

/** Writes a line a second, and one for each death and each return. */
export class FleetProgress {
  readonly #write: (line: string) => void;
  readonly #now: () => number;
  #startedAt: number | undefined;
  #lastSecond = -1;

  constructor(write: (line: string) => void, now: () => number) {
    this.#write = write;
    this.#now = now;
  }

  moment({ acknowledged, waiting, handled }: FleetMoment): void {
    const second = this.#second();
    if (second === this.#lastSecond) return;
    this.#lastSecond = second;
    const depth = waiting === undefined ? 'no database' : `queued ${count(waiting)}`;
    this.#line('fleet', `acknowledged ${count(acknowledged)}  ${depth}  handled ${count(handled)}`);
  }

  death(name: string, downMs?: number): void {
    if (downMs === undefined) this.#line('killed', name);
    else this.#line('back', `${name}, after ${(downMs / 1000).toFixed(1)} s`);
  }

  #line(title: string, text: string): void {
    this.#write(`${title.padEnd(8)}${String(this.#second()).padStart(3)} s  ${text}`);
  }

  #second(): number {
    this.#startedAt ??= this.#now();
    return Math.floor((this.#now() - this.#startedAt) / 1000);
  }
}

export function fleetTable({
  sender,
  deaths,
  repeats,
  completed,
  missing,
  deepest,
  seconds,
}: FleetResult): string {
  const ms = (value: number | null): string => (value === null ? '–' : `${count(Math.round(value))} ms`);
  const rows: [label: string, value: string][] = [
    ['acknowledged', `${count(sender.delivered)} of ${count(sender.deliveries)}`],
    ['completed', count(completed)],
    ['lost', count(sender.lost + missing)],
    ['handled twice', count(repeats.afterKill + repeats.otherwise)],
    ['  because a worker was killed', count(repeats.afterKill)],
    ['  because the database was stopped', count(repeats.otherwise)],
    ['killed: processes and databases', count(deaths)],
    ['most queued', `${count(deepest)} of ${count(FLEET.capacity)}`],
    [
      'attempts per delivery, mean and most',
      `${(sender.attempts / sender.deliveries).toFixed(2)}, ${count(sender.maxAttempts)}`,
    ],
    ['time to be acknowledged, p50', ms(sender.answerMs.p50)],
    ['time to be acknowledged, p99', ms(sender.answerMs.p99)],
    ['time until all were acknowledged', `${sender.seconds.toFixed(1)} s`],
    ['time until all were completed', `${seconds.toFixed(1)} s`],
  ];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(([label, value]) => `${label.padEnd(widths[0] ?? 0)}   ${value.padStart(widths[1] ?? 0)}`)
    .join('\n');
}

/** Why a delivery can be handled twice. */
export const whyTwice: string =
  'A delivery is handled again if its worker or the database stops after the\n' +
  'handler and before its result is stored. Handlers recognize it by its id.';

/** The most repeats that the deaths explain: each worker of a process that stopped, or of all when the database did. */
export const MAX_REPEATS: number = (2 + FLEET.workers) * POOL.max;

/** The promises that the inbox broke; none if all went well. */
export function brokenFleetPromises({ sender, completed, missing, repeats }: FleetResult): string[] {
  const broken: string[] = [];
  if (sender.lost > 0) broken.push(`the sender gave up ${count(sender.lost)} deliveries.`);
  if (missing > 0) broken.push(`${count(missing)} deliveries were acknowledged and never handled.`);
  if (completed !== sender.delivered)
    broken.push(`${count(sender.delivered)} deliveries were acknowledged and ${count(completed)} completed.`);
  const twice = repeats.afterKill + repeats.otherwise;
  if (twice > MAX_REPEATS)
    broken.push(`${count(twice)} deliveries were handled twice; at most ${count(MAX_REPEATS)} may be.`);
  return broken;
}
