import { describe, expect, it } from 'vitest';
import {
  builtInSenders,
  type Delivery,
  type IntakeEvent,
  type SenderProfile,
} from '@webhook-backpressure/core';
import { SwitchOffWatch } from '../../../packages/core/src/refusals/switch-off.ts';
import { createBench, letIn, occupy, startedNow, turnedAway, type Bench } from '../harness.ts';

const HOUR_MS = 3_600_000;

function profileOf(name: string): SenderProfile {
  const found = builtInSenders.find((profile) => profile.name === name);
  if (found === undefined) throw new Error(`no profile of ${name}`);
  return found;
}

const slack = profileOf('slack');
const gitlab = profileOf('gitlab');
const shopify = profileOf('shopify');

/** The numbers of the answers, from 1, at which the watch warned. `F` is a failure, all else a success. */
function warnings(profile: SenderProfile, answers: string): number[] {
  const watch = new SwitchOffWatch();
  return Array.from(answers).flatMap((answer, i) =>
    watch.note(profile, answer === 'F', i * 1000) ? [i + 1] : [],
  );
}

describe('failures in a row', () => {
  it.each([
    ['GitLab, which switches off after 4', gitlab, 'FFFFFFFF', [3]],
    ['GitLab, which got better answers in between', gitlab, 'FFsFFsFFFsFFF', [9, 13]],
    ['Shopify, which switches off after 8', shopify, 'FFFFFFFFFFFF', [6]],
    ['Shopify, which got better answers in between', shopify, 'FFFFFsFFFFFsFFFFFF', [18]],
    ['a sender that never does', profileOf('github'), 'FFFFFFFFFFFF', []],
  ])('are reported once, and before it happens: %s', (_, profile, answers, at) => {
    expect(warnings(profile, answers)).toEqual(at);
  });

  it('are those of one sender', () => {
    const watch = new SwitchOffWatch();
    for (let i = 0; i < 2; i += 1) expect(watch.note(gitlab, true, 0)).toBe(false);
    expect(watch.note(shopify, true, 0)).toBe(false);
    expect(watch.note(gitlab, true, 0)).toBe(true);
  });
});

describe('a share of failures in a window', () => {
  /** Answers every ten seconds, so many in a hundred of them failures; when it warned, in ms. */
  function watchHours(
    watch: SwitchOffWatch,
    fromMs: number,
    hours: number,
    failuresInHundred: number,
  ): number[] {
    const warned: number[] = [];
    for (let i = 0; i < hours * 360; i += 1) {
      const nowMs = fromMs + i * 10_000;
      // Evenly mixed, by the golden section.
      const isFailure = (i * 61.8034) % 100 < failuresInHundred;
      if (watch.note(slack, isFailure, nowMs)) warned.push(nowMs);
    }
    return warned;
  }

  it('is reported once while it lasts, and before 95 % of an hour have failed', () => {
    const watch = new SwitchOffWatch();
    expect(watchHours(watch, 0, 2, 3)).toEqual([]);
    const warned = watchHours(watch, 2 * HOUR_MS, 5, 100);
    expect(warned).toHaveLength(1);
    expect(warned[0]).toBeLessThan(2 * HOUR_MS + 0.8 * HOUR_MS);
  });

  it('does not warn at half of it', () => {
    expect(watchHours(new SwitchOffWatch(), 0, 6, 50)).toEqual([]);
  });

  it.each([68, 70, 71, 72, 75])('that stays around the threshold is reported once: %i of 100', (percent) => {
    expect(watchHours(new SwitchOffWatch(), 0, 24, percent).length).toBeLessThanOrEqual(1);
  });

  it('is reported again after a calm time', () => {
    const watch = new SwitchOffWatch();
    expect(watchHours(watch, 0, 2, 100)).toHaveLength(1);
    expect(watchHours(watch, 2 * HOUR_MS, 2, 0)).toHaveLength(0);
    expect(watchHours(watch, 4 * HOUR_MS, 2, 100)).toHaveLength(1);
  });

  it('forgets what is older than the window, also over a long silence', () => {
    const watch = new SwitchOffWatch();
    for (let i = 0; i < 19; i += 1) expect(watch.note(slack, true, i)).toBe(false);
    for (let i = 0; i < 19; i += 1) expect(watch.note(slack, true, 50 * HOUR_MS + i)).toBe(false);
  });

  it('is not judged by a handful of answers', () => {
    expect(warnings(slack, 'F'.repeat(19))).toEqual([]);
    expect(warnings(slack, 'F'.repeat(40))).toEqual([20]);
  });
});

describe('an intake', () => {
  function endangered({ events }: Bench): IntakeEvent[] {
    return events.filter(({ type }) => type === 'endangered');
  }

  it('counts refusals, expiry, failures, and senders that hung up', () => {
    const delivery: Delivery = { key: 'shopify', profile: shopify };
    const bench = createBench({ concurrency: 1, capacity: 1, maxWaitMs: 1000 });
    const { intake, clock } = bench;
    startedNow(intake.admit(delivery)).release('failure');
    const [busy] = occupy(intake);
    letIn(intake.admit(delivery)).leave();
    letIn(intake.admit(delivery));
    for (let i = 0; i < 3; i += 1) turnedAway(intake.admit(delivery));
    expect(endangered(bench)).toEqual([]);
    clock.advance(1100);
    expect(endangered(bench)).toMatchObject([{ sender: 'shopify' }]);
    turnedAway(intake.admit({ ...delivery, maxWaitMs: 0 }));
    busy?.release();
    startedNow(intake.admit(delivery)).release();
    expect(endangered(bench)).toHaveLength(1);
  });

  it('reports what may be lost, on the event and in the totals', () => {
    const bench = createBench({ concurrency: 1, capacity: 2, maxWaitMs: 1000 });
    const { intake, clock, events } = bench;
    const never: Delivery = { key: 'github', profile: profileOf('github'), retries: false };
    occupy(intake);
    letIn(intake.admit(never));
    letIn(intake.admit(never));
    turnedAway(intake.admit({ key: 'shop' }));
    expect(intake.snapshot().totals.lossRisk).toBe(0);
    for (let i = 1; i <= 3; i += 1) {
      turnedAway(intake.admit(never));
      expect(intake.snapshot().totals.lossRisk).toBe(i);
    }
    const risks = events.flatMap((event) => (event.type === 'refused' ? [event.lossRisk] : []));
    expect(risks).toEqual([false, true, true, true]);
    // What has waited too long is refused as well.
    clock.advance(1100);
    expect(intake.snapshot().totals).toMatchObject({ lossRisk: 5, withdrawn: { expired: 2 } });
  });
});
