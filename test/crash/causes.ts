import type { Step } from './handler-log.ts';

/** A handler that was started although one had been started for the same delivery. */
interface Repeat {
  /** The process that had started it before, and when. */
  readonly life: number;
  readonly fromMs: number;
  /** When it was started again, in milliseconds since 1970. */
  readonly toMs: number;
}

/** Why handlers may be started again: their process was killed, lost its network, or the server was stopped. */
export type Cause = { readonly fromMs: number; toMs: number } & (
  { readonly what: 'kill' | 'partition'; readonly life: number } | { readonly what: 'stop' }
);

/** The repeats that each cause explains, and those that none does. */
export interface Explained {
  readonly perKill: readonly number[];
  readonly perPartition: readonly number[];
  readonly perStop: readonly number[];
  readonly unexplained: readonly Repeat[];
}

/** A kill explains more than a partition, and a partition more than a stop of the server. */
const ORDER = ['kill', 'partition', 'stop'] as const;

export function explain(log: readonly Step[], causes: readonly Cause[]): Explained {
  const counts = new Map<Cause, number>(causes.map((cause) => [cause, 0]));
  const unexplained: Repeat[] = [];
  for (const repeat of repeatsIn(log)) {
    const candidates = ORDER.flatMap((what) => causes.filter((cause) => cause.what === what)).filter(
      (cause) =>
        (cause.what === 'stop' || cause.life === repeat.life) &&
        cause.fromMs <= repeat.toMs &&
        cause.toMs >= repeat.fromMs,
    );
    const [cause] = candidates;
    if (cause === undefined) unexplained.push(repeat);
    else counts.set(cause, (counts.get(cause) ?? 0) + 1);
  }
  const of = (what: Cause['what']): number[] =>
    [...counts].filter(([cause]) => cause.what === what).map(([, count]) => count);
  return { perKill: of('kill'), perPartition: of('partition'), perStop: of('stop'), unexplained };
}

function repeatsIn(log: readonly Step[]): Repeat[] {
  const last = new Map<string, Step>();
  return log.flatMap((step) => {
    if (step.type !== 'started') return [];
    const before = last.get(step.id);
    last.set(step.id, step);
    return before ? [{ life: Number(before.worker), fromMs: before.atMs, toMs: step.atMs }] : [];
  });
}
