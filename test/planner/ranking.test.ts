import { describe, expect, it } from 'vitest';
import type { Outcome } from '@webhook-backpressure/planner';
import { isBetter } from '../../packages/planner/src/search/search.ts';
import type { Trial } from '../../packages/planner/src/search/trials.ts';

interface Figures {
  readonly lost?: number;
  readonly off?: boolean;
  readonly attempts?: number;
  readonly p99?: number;
}

function trial({ lost = 0, off = false, attempts = 1, p99 = 1 }: Figures): Trial {
  const outcome = {
    events: 10_000,
    lost,
    attemptsPerEvent: attempts,
    delayS: { p99 },
    senders: [{ name: 'shop', switchedOff: off }],
  };
  return { outcome: outcome as unknown as Outcome } as Trial;
}

describe('a simulated configuration', () => {
  it.each<[string, Figures, Figures]>([
    ['loses fewer deliveries', { lost: 90 }, { lost: 100 }],
    ['loses none, although its attempts are more', { attempts: 9, off: true }, { lost: 1 }],
    ['is not disabled, although its attempts are more', { attempts: 9 }, { off: true }],
    ['is not disabled, although the losses are equal', { lost: 100 }, { lost: 100, off: true }],
    ['has fewer attempts, although it is slower', { attempts: 1, p99: 9 }, { attempts: 1.2 }],
    ['is faster', { p99: 1 }, { p99: 1.2 }],
  ])('is better if it %s', (_, better, worse) => {
    expect(isBetter(trial(better), trial(worse))).toBe(true);
    expect(isBetter(trial(worse), trial(better))).toBe(false);
  });

  it.each<[string, Figures, Figures]>([
    ['losses', { lost: 97 }, { lost: 100 }],
    ['attempts', { attempts: 1.05 }, { attempts: 1.1 }],
    ['delays', { p99: 1.05 }, { p99: 1.1 }],
    ['attempts while deliveries are lost', { lost: 100, attempts: 1 }, { lost: 100, attempts: 9 }],
  ])('is not better by a small difference of %s', (_, one, other) => {
    expect(isBetter(trial(one), trial(other))).toBe(false);
    expect(isBetter(trial(other), trial(one))).toBe(false);
  });
});
