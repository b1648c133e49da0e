import { readFileSync } from 'node:fs';

/** A handler that was started although one had been started for the same delivery. */
export interface Repeat {
  readonly id: string;
  /** The life that had started it before. */
  readonly life: number;
  /** When it had been started, and when it was started again, in milliseconds since 1970. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** The log of the handlers. */
export interface Handled {
  /** Ids whose handler finished. */
  readonly ended: ReadonlySet<string>;
  readonly repeats: readonly Repeat[];
  /** How many times each id was started. */
  readonly starts: ReadonlyMap<string, number>;
}

export function readLog(log: string): Handled {
  const ended = new Set<string>();
  const starts = new Map<string, number>();
  const last = new Map<string, { readonly life: number; readonly atMs: number }>();
  const repeats: Repeat[] = [];
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    if (line === '') continue;
    const [what, life, atMs, id] = JSON.parse(line) as ['start' | 'end', number, number, string];
    if (what === 'end') ended.add(id);
    if (what !== 'start') continue;
    const before = last.get(id);
    if (before !== undefined) repeats.push({ id, life: before.life, fromMs: before.atMs, toMs: atMs });
    last.set(id, { life, atMs });
    starts.set(id, (starts.get(id) ?? 0) + 1);
  }
  return { ended, repeats, starts };
}

/** The most repeats of deliveries that the same life had started. */
export function mostRepeatsOfALife({ repeats }: Pick<Handled, 'repeats'>): number {
  const counts = new Map<number, number>();
  for (const { life } of repeats) counts.set(life, (counts.get(life) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}
