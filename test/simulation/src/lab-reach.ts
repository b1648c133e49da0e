import { duration, lostShare, ofSender, percent } from './lab-cells.ts';
import type { LabReport } from './lab-figures.ts';
import { aloneName, isTogether, mixtureName, MIXTURES, type Mixture, type Shape } from './lab-runs.ts';
import { LAB_SENDERS, type LabSender } from './lab-senders.ts';

/** A figure to reach, and its worst value. */
export interface LabGoal {
  readonly case: string;
  readonly target: string;
  /** The worst of all senders. */
  readonly reached: string;
  /** The misses, each with its figures. */
  readonly missed: readonly string[];
  /** How many of its senders have no runs yet. */
  readonly open: number;
}

const POINTS = 100;
const MAX_POINTS = 2;
const MAX_ATTEMPTS = 2;
const HOUR_S = 3600;

/** Computes the figures to reach. */
export function labGoals(report: LabReport): LabGoal[] {
  return [mixtureGoal(report), nearBoundGoal(report), inboxGoal(report), obeyingGoal(report)];
}

function mixtureGoal(report: LabReport): LabGoal {
  let most = 0;
  let disabled = 0;
  let open = 0;
  const missed = MIXTURES.flatMap((mixture) => {
    const result = report[mixtureName(mixture, 'held')];
    return Object.keys(mixture.small).flatMap((name) => {
      const figures = result?.[name];
      if (figures === undefined) {
        open += 1;
        return [];
      }
      most = Math.max(most, lostShare(figures));
      disabled += figures.off > 0 ? 1 : 0;
      if (figures.lost === 0 && figures.off === 0) return [];
      return [`${titleOf(mixture, name)}: ${percent(lostShare(figures))}${figures.off > 0 ? ', off' : ''}`];
    });
  });
  return {
    case: 'every mixture, each small sender below half of the drain rate, held',
    target: 'lost 0, not switched off',
    reached: `lost at most ${percent(most)}, ${String(disabled)} switched off`,
    missed,
    open,
  };
}

function titleOf({ flood, small }: Mixture, name: string): string {
  const share = String(small[name]);
  return `${name} at ${share}×${isTogether(small) ? ' with the others' : ''} beside ${flood}`;
}

/** Senders of which even the best receiver loses events. */
function nearBoundGoal(report: LabReport): LabGoal {
  let farthest = 0;
  let open = 0;
  const missed = LAB_SENDERS.flatMap((sender) => {
    const held = ofSender(report[aloneName(sender, 'S10', 'held')]);
    const bound = ofSender(report[aloneName(sender, 'S10', 'bound')]);
    if (bound?.lost === 0) return [];
    if (held === undefined || bound === undefined) {
      open += 1;
      return [];
    }
    const points = (lostShare(held) - lostShare(bound)) * POINTS;
    farthest = Math.max(farthest, points);
    const off = held.off > 0 ? ', off' : '';
    return points > MAX_POINTS ? [`${sender.name}: ${points.toFixed(1)} points${off}`] : [];
  });
  return {
    case: 'alone, S10, held: senders that never repeat, or whose schedule is too short',
    target: 'within 2 points of the bound',
    reached: `${farthest.toFixed(1)} points`,
    missed,
    open,
  };
}

function inboxGoal(report: LabReport): LabGoal {
  let most = 0;
  let disabled = 0;
  let open = 0;
  const missed = (['S1', 'burst'] as const).flatMap((shape: Shape) =>
    LAB_SENDERS.flatMap((sender) => {
      const figures = ofSender(report[aloneName(sender, shape, 'inbox')]);
      if (figures === undefined) {
        open += 1;
        return [];
      }
      most = Math.max(most, lostShare(figures));
      disabled += figures.off > 0 ? 1 : 0;
      if (figures.lost === 0 && figures.off === 0) return [];
      return [`${sender.name}, ${shape}: ${percent(lostShare(figures))}${figures.off > 0 ? ', off' : ''}`];
    }),
  );
  return {
    case: 'alone, with the inbox (capacity 100,000): S1 and burst',
    target: 'lost 0, never off, all senders',
    reached: `lost at most ${percent(most)}, ${String(disabled)} switched off`,
    missed,
    open,
  };
}

function obeyingGoal(report: LabReport): LabGoal {
  let mostAttempts = 0;
  let mostLost = 0;
  let open = 0;
  const missed = LAB_SENDERS.filter(obeys).flatMap((sender) => {
    const figures = ofSender(report[aloneName(sender, 'S10', 'held')]);
    if (figures === undefined) {
      open += 1;
      return [];
    }
    const { attempts, lost, p99 } = figures;
    mostAttempts = Math.max(mostAttempts, attempts ?? 0);
    mostLost = Math.max(mostLost, lostShare(figures));
    if ((attempts ?? 0) <= MAX_ATTEMPTS && lost === 0) return [];
    const loss = percent(lostShare(figures));
    return [`${sender.name}: ${(attempts ?? 0).toFixed(2)} attempts, lost ${loss}, p99 ${duration(p99)}`];
  });
  return {
    case: 'alone, S10, held: senders that honor a Retry-After of up to an hour',
    target: 'at most 2.0 attempts, lost 0',
    reached: `${mostAttempts.toFixed(2)} attempts, lost at most ${percent(mostLost)}`,
    missed,
    open,
  };
}

/** Not those that clamp it to their own schedule, or to some seconds. */
function obeys({ profile: { retries, retryAfter } }: LabSender): boolean {
  if (retries === 'none' || retryAfter === 'ignored') return false;
  const { steps, maxSeconds = Infinity } = retryAfter ?? {};
  return steps === undefined && maxSeconds >= HOUR_S;
}
