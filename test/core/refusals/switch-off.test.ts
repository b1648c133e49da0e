import { describe, expect, it } from 'vitest';
import {
  builtInSenders,
  type Delivery,
  type IntakeEvent,
  type SenderProfile,
} from '@webhook-backpressure/core';
import { SwitchOffWatch } from '../../../packages/core/src/refusals/switch-off.ts';
import { createBench, letIn, occupy, seeded, startedNow, turnedAway, type Bench } from '../harness.ts';

const HOUR_MS = 3_600_000;

function profileOf(name: string): SenderProfile {
  const found = builtInSenders.find((profile) => profile.name === name);
  if (found === undefined) throw new Error(`no profile of ${name}`);
  return found;
}

const slack = profileOf('slack');
const gitlab = profileOf('gitlab');
const shopify = profileOf('shopify');

/** The numbers of the answers, from 1, at which the watch warns. `F` is a failure, any other letter a success. */
function warnings(profile: SenderProfile, answers: string): number[] {
  const watch = new SwitchOffWatch();
  return Array.from(answers).flatMap((answer, i) =>
    watch.note(profile, 'shop', answer === 'F', i * 60_000) ? [i + 1] : [],
  );
}

describe('failures in a row', () => {
  it.each([
    ['GitLab, which disables after 4', gitlab, 'FFFFFFFF', [3]],
    ['GitLab, with successes in between', gitlab, 'FFsFFsFFFsFFF', [9, 13]],
    ['Shopify, which disables after 8', shopify, 'FFFFFFFFFFFF', [6]],
    ['Shopify, with successes in between', shopify, 'FFFFFsFFFFFsFFFFFF', [18]],
    ['a sender that never disables', profileOf('github'), 'FFFFFFFFFFFF', []],
  ])('are reported once, before the sender disables the endpoint: %s', (_, profile, answers, at) => {
    expect(warnings(profile, answers)).toEqual(at);
  });

  it('are counted per sender', () => {
    const watch = new SwitchOffWatch();
    for (let i = 0; i < 2; i += 1) expect(watch.note(gitlab, 'shop', true, 0)).toBe(false);
    expect(watch.note(shopify, 'shop', true, 0)).toBe(false);
    expect(watch.note(gitlab, 'shop', true, 0)).toBe(true);
  });
});

describe('a share of failures in a window', () => {
  /** One answer every ten seconds with this percentage of failures. Returns the times of warnings, in ms. */
  function watchHours(
    watch: SwitchOffWatch,
    fromMs: number,
    hours: number,
    failuresInHundred: number,
  ): number[] {
    const warned: number[] = [];
    for (let i = 0; i < hours * 360; i += 1) {
      const nowMs = fromMs + i * 10_000;
      // Evenly mixed by the golden ratio.
      const isFailure = (i * 61.8034) % 100 < failuresInHundred;
      if (watch.note(slack, 'shop', isFailure, nowMs)) warned.push(nowMs);
    }
    return warned;
  }

  it('is reported once while it lasts, before 95 % of an hour have failed', () => {
    const watch = new SwitchOffWatch();
    expect(watchHours(watch, 0, 2, 3)).toEqual([]);
    const warned = watchHours(watch, 2 * HOUR_MS, 5, 100);
    expect(warned).toHaveLength(1);
    expect(warned[0]).toBeLessThan(2 * HOUR_MS + 0.8 * HOUR_MS);
  });

  it('is not reported at half of the limit', () => {
    expect(watchHours(new SwitchOffWatch(), 0, 6, 50)).toEqual([]);
  });

  it.each([68, 70, 71, 72, 75])('is reported once while it stays near the threshold: %i %%', (percent) => {
    expect(watchHours(new SwitchOffWatch(), 0, 24, percent).length).toBeLessThanOrEqual(1);
  });

  it('is reported again after two hours of successes', () => {
    const watch = new SwitchOffWatch();
    expect(watchHours(watch, 0, 2, 100)).toHaveLength(1);
    expect(watchHours(watch, 2 * HOUR_MS, 2, 0)).toHaveLength(0);
    expect(watchHours(watch, 4 * HOUR_MS, 2, 100)).toHaveLength(1);
  });

  it('leaves out answers older than the window, also after a long silence', () => {
    const watch = new SwitchOffWatch();
    for (let i = 0; i < 19; i += 1) expect(watch.note(slack, 'shop', true, i)).toBe(false);
    for (let i = 0; i < 19; i += 1) expect(watch.note(slack, 'shop', true, 50 * HOUR_MS + i)).toBe(false);
  });

  it('is not judged by fewer than 20 answers', () => {
    expect(warnings(slack, 'F'.repeat(19))).toEqual([]);
    expect(warnings(slack, 'F'.repeat(40))).toEqual([20]);
  });
});

describe('the list of endangered senders', () => {
  it('names a sender from the warning until a success ends its run of failures', () => {
    const watch = new SwitchOffWatch();
    for (let i = 0; i < 2; i += 1) watch.note(gitlab, 'shop', true, 0);
    expect(watch.endangered(0)).toEqual([]);
    watch.note(gitlab, 'shop', true, 0);
    for (let i = 0; i < 6; i += 1) watch.note(shopify, 'shop', true, 0);
    expect(watch.endangered(0)).toEqual(['gitlab', 'shopify']);
    // A run of failures does not end by itself.
    expect(watch.endangered(50 * HOUR_MS)).toEqual(['gitlab', 'shopify']);
    watch.note(gitlab, 'shop', false, 50 * HOUR_MS);
    expect(watch.endangered(50 * HOUR_MS)).toEqual(['shopify']);
  });

  it('does not name a sender again before it is warned of again', () => {
    const watch = new SwitchOffWatch();
    for (let i = 0; i < 6; i += 1) watch.note(shopify, 'shop', true, 0);
    watch.note(shopify, 'shop', false, 0);
    for (let i = 0; i < 5; i += 1) watch.note(shopify, 'shop', true, 0);
    expect(watch.endangered(0)).toEqual([]);
    watch.note(shopify, 'shop', true, 0);
    expect(watch.endangered(0)).toEqual(['shopify']);
  });

  it('names a sender until its failures are older than its window, and then warns again', () => {
    const watch = new SwitchOffWatch();
    for (let i = 0; i < 20; i += 1) watch.note(slack, 'shop', true, 0);
    expect(watch.endangered(0)).toEqual(['slack']);
    expect(watch.endangered(0.9 * HOUR_MS)).toEqual(['slack']);
    expect(watch.endangered(1.1 * HOUR_MS)).toEqual([]);
    const warned = Array.from({ length: 20 }, () => watch.note(slack, 'shop', true, 1.1 * HOUR_MS));
    expect(warned.filter(Boolean)).toHaveLength(1);
    expect(watch.endangered(1.1 * HOUR_MS)).toEqual(['slack']);
  });

  it('names a sender while its share of failures is above half of its limit', () => {
    const watch = new SwitchOffWatch();
    for (let i = 0; i < 100; i += 1) watch.note(slack, 'shop', true, 0);
    for (let i = 0; i < 99; i += 1) watch.note(slack, 'shop', false, 0);
    expect(watch.endangered(0)).toEqual(['slack']);
    for (let i = 0; i < 20; i += 1) watch.note(slack, 'shop', false, 0);
    expect(watch.endangered(0)).toEqual([]);
  });

  it('does not depend on how often it is read', () => {
    const random = seeded(7);
    const [read, unread] = [new SwitchOffWatch(), new SwitchOffWatch()];
    let nowMs = 0;
    let warnings = 0;
    for (let i = 0; i < 5000; i += 1) {
      nowMs += random() * 120_000;
      read.endangered(nowMs);
      const profile = random() < 0.5 ? slack : shopify;
      const isFailure = random() < 0.5 + 0.5 * Math.sin(nowMs / HOUR_MS);
      const isWarned = read.note(profile, 'shop', isFailure, nowMs);
      expect(unread.note(profile, 'shop', isFailure, nowMs)).toBe(isWarned);
      if (isWarned) warnings += 1;
    }
    expect(warnings).toBeGreaterThan(10);
    expect(read.endangered(nowMs)).toEqual(unread.endangered(nowMs));
  });
});

describe('an intake', () => {
  function endangered({ events }: Bench): IntakeEvent[] {
    return events.filter(({ type }) => type === 'endangered');
  }

  it('counts refusals, expired deliveries, failures, and disconnects', () => {
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
    expect(intake.snapshot().endangered).toEqual(['shopify']);
    turnedAway(intake.admit({ ...delivery, maxWaitMs: 0 }));
    busy?.release();
    startedNow(intake.admit(delivery)).release();
    expect(endangered(bench)).toHaveLength(1);
    expect(intake.snapshot().endangered).toEqual([]);
  });

  it('reports possible losses in the event and in the totals', () => {
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
    // Expired deliveries are refused as well.
    clock.advance(1100);
    expect(intake.snapshot().totals).toMatchObject({ lossRisk: 5, withdrawn: { expired: 2 } });
  });
});
