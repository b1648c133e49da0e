import { count } from './format.ts';
import type { Death, InboxMoment, InboxResult } from './inbox-run.ts';

/** Writes a line a second, and one for each death. */
export function inboxProgress(
  write: (line: string) => void,
  now: () => number,
): (moment: InboxMoment, death?: Death) => void {
  const startedAt = now();
  let lastSecond = -1;
  return ({ acknowledged, waiting, processed }, death) => {
    const second = Math.floor((now() - startedAt) / 1000);
    if (death !== undefined) {
      const open = death.acknowledged - death.processed;
      write(
        `killed  ${String(second).padStart(3)} s  with ${count(open)} acknowledged and not processed; ` +
          `restarted in ${String(Math.round(death.downMs))} ms`,
      );
    } else if (second > lastSecond) {
      lastSecond = second;
      const depth = Number.isFinite(waiting) ? count(waiting) : '?';
      write(
        `inbox   ${String(second).padStart(3)} s  acknowledged ${count(acknowledged)}  ` +
          `queued ${depth}  processed ${count(processed)}`,
      );
    }
  };
}

export function inboxTable({ sender, deaths, processed, repeated, seconds }: InboxResult): string {
  const ms = (value: number | null): string => (value === null ? '–' : `${count(Math.round(value))} ms`);
  const rows: [label: string, value: string][] = [
    ['lost (the sender gave up)', count(sender.lost)],
    ['acknowledged', `${count(sender.delivered)} of ${count(sender.deliveries)}`],
    ['processed', count(processed)],
    ['processed twice', count(repeated)],
    ['times the process was killed', count(deaths.length)],
    ['attempts per delivery', (sender.attempts / sender.deliveries).toFixed(2)],
    ['time to be acknowledged, p50', ms(sender.answerMs.p50)],
    ['time to be acknowledged, p99', ms(sender.answerMs.p99)],
    ['time until all were acknowledged', `${sender.seconds.toFixed(1)} s`],
    ['time until all were processed', `${seconds.toFixed(1)} s`],
  ];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(([label, value]) => `${label.padEnd(widths[0] ?? 0)}   ${value.padStart(widths[1] ?? 0)}`)
    .join('\n');
}

/** The promises that the inbox broke; none if all went well. */
export function brokenInboxPromises({ sender, missing }: InboxResult): string[] {
  const broken: string[] = [];
  if (sender.lost > 0) broken.push(`${count(sender.lost)} deliveries were lost.`);
  const forgotten = missing - sender.lost;
  if (forgotten > 0) broken.push(`${count(forgotten)} were acknowledged and never processed.`);
  return broken;
}
