import { describe, expect, it } from 'vitest';
import { builtInSenders, type SenderProfile } from '@webhook-backpressure/senders';
import { SwitchOff } from '@webhook-backpressure/core/extend';
import { seeded } from '../harness.ts';

const HOUR_MS = 3_600_000;

function profileOf(name: string): SenderProfile {
  const found = builtInSenders.find((profile) => profile.name === name);
  if (found === undefined) throw new Error(`no profile of ${name}`);
  return found;
}

const slack: SenderProfile = { ...profileOf('slack'), switchOff: { ratio: 0.95, windowS: 3600 } };
const gitlab = profileOf('gitlab');
const shopify = profileOf('shopify');

/** Notes answers, and says which of them warn. */
class Watch {
  readonly #rule = new SwitchOff(() => {
    this.#isWarned = true;
  });
  #isWarned = false;

  note(profile: SenderProfile, key: string, isFailure: boolean, nowMs: number): boolean {
    this.#isWarned = false;
    this.#rule.note({ delivery: { profile }, key }, isFailure, nowMs);
    return this.#isWarned;
  }

  isNear(profile: SenderProfile, nowMs: number, key = 'shop'): boolean {
    return this.#rule.entitles({ delivery: { profile }, key, nowMs });
  }

  endangered(nowMs: number): readonly string[] {
    return this.#rule.endangered(nowMs);
  }
}

/** The numbers of the answers, from 1, at which the watch warns. `F` is a failure, any other letter a success. */
function warnings(profile: SenderProfile, answers: string): number[] {
  const watch = new Watch();
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
    const watch = new Watch();
    for (let i = 0; i < 2; i += 1) expect(watch.note(gitlab, 'shop', true, 0)).toBe(false);
    expect(watch.note(shopify, 'shop', true, 0)).toBe(false);
    expect(watch.note(gitlab, 'shop', true, 0)).toBe(true);
  });
});

describe('a share of failures in a window', () => {
  /** One answer every ten seconds with this percentage of failures. Returns the times of warnings, in ms. */
  function watchHours(watch: Watch, fromMs: number, hours: number, failuresInHundred: number): number[] {
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
    const watch = new Watch();
    expect(watchHours(watch, 0, 2, 3)).toEqual([]);
    const warned = watchHours(watch, 2 * HOUR_MS, 5, 100);
    expect(warned).toHaveLength(1);
    expect(warned[0]).toBeLessThan(2 * HOUR_MS + 0.8 * HOUR_MS);
  });

  it('is not reported at half of the limit', () => {
    expect(watchHours(new Watch(), 0, 6, 50)).toEqual([]);
  });

  it.each([68, 70, 71, 72, 75])('is reported once while it stays near the threshold: %i %%', (percent) => {
    expect(watchHours(new Watch(), 0, 24, percent).length).toBeLessThanOrEqual(1);
  });

  it('is reported again after two hours of successes', () => {
    const watch = new Watch();
    expect(watchHours(watch, 0, 2, 100)).toHaveLength(1);
    expect(watchHours(watch, 2 * HOUR_MS, 2, 0)).toHaveLength(0);
    expect(watchHours(watch, 4 * HOUR_MS, 2, 100)).toHaveLength(1);
  });

  it('leaves out answers older than the window, also after a long silence', () => {
    const watch = new Watch();
    for (let i = 0; i < 19; i += 1) expect(watch.note(slack, 'shop', true, i)).toBe(false);
    for (let i = 0; i < 19; i += 1) expect(watch.note(slack, 'shop', true, 50 * HOUR_MS + i)).toBe(false);
  });

  it('is not judged by fewer than 20 answers', () => {
    expect(warnings(slack, 'F'.repeat(19))).toEqual([]);
    expect(warnings(slack, 'F'.repeat(40))).toEqual([20]);
    const watch = new Watch();
    for (let i = 0; i < 19; i += 1) watch.note(slack, 'shop', true, 0);
    expect(watch.isNear(slack, 0)).toBe(false);
    watch.note(slack, 'shop', true, 0);
    expect(watch.isNear(slack, 0)).toBe(true);
  });
});

describe('a number of failures in a window', () => {
  const intercom: SenderProfile = { ...profileOf('intercom'), switchOff: { count: 1000, windowS: 900 } };

  function failures(watch: Watch, count: number, fromMs: number, eachMs = 0): number {
    return Array.from({ length: count }, (_, i) =>
      watch.note(intercom, 'shop', true, fromMs + i * eachMs),
    ).indexOf(true);
  }

  it('is reported at three quarters of the limit, successes or not', () => {
    const watch = new Watch();
    for (let i = 0; i < 5000; i += 1) watch.note(intercom, 'shop', false, 0);
    expect(failures(watch, 749, 0)).toBe(-1);
    expect(failures(watch, 1, 0)).toBe(0);
    expect(watch.endangered(0)).toEqual(['intercom']);
  });

  it('may use the reserve from three quarters on, until failures are older than the window', () => {
    const watch = new Watch();
    failures(watch, 749, 0);
    expect(watch.isNear(intercom, 0)).toBe(false);
    failures(watch, 1, 0);
    expect(watch.isNear(intercom, 0)).toBe(true);
    expect(watch.isNear(intercom, 900_000)).toBe(true);
    expect(watch.isNear(intercom, 976_000)).toBe(false);
  });

  it('forgets no failure before the sender does', () => {
    const watch = new Watch();
    failures(watch, 740, 74_999);
    expect(failures(watch, 20, 974_000)).toBe(9);
  });

  it('applies beside a share, whichever is reached first', () => {
    const zendesk: SenderProfile = {
      ...intercom,
      switchOff: { ratio: 0.7, minAnswers: 100, count: 1000, windowS: 300 },
    };
    const [share, number] = [new Watch(), new Watch()];
    const warned = Array.from({ length: 100 }, () => share.note(zendesk, 'shop', true, 0));
    expect(warned.indexOf(true)).toBe(99);
    for (let i = 0; i < 3000; i += 1) number.note(zendesk, 'shop', false, 0);
    const counted = Array.from({ length: 1000 }, () => number.note(zendesk, 'shop', true, 0));
    expect(counted.indexOf(true)).toBe(749);
  });
});

describe('the keys of a sender', () => {
  it('have failures in a row each, since a sender counts them by endpoint', () => {
    const watch = new Watch();
    for (let i = 0; i < 5; i += 1) {
      expect(watch.note(shopify, 'one', true, 0)).toBe(false);
      watch.note(shopify, 'two', false, 0);
    }
    expect(watch.note(shopify, 'one', true, 0)).toBe(true);
    watch.note(shopify, 'two', false, 0);
    expect(watch.endangered(0)).toEqual(['shopify']);
    watch.note(shopify, 'one', false, 0);
    expect(watch.endangered(0)).toEqual([]);
  });

  it('are forgotten when thousands of others fail', () => {
    const watch = new Watch();
    for (let i = 0; i < 6; i += 1) watch.note(shopify, 'first', true, 0);
    expect(watch.isNear(shopify, 0, 'first')).toBe(true);
    for (let i = 0; i < 100_000; i += 1) watch.note(shopify, String(i), true, 0);
    // It is one of the keys that were forgotten.
    expect(watch.isNear(shopify, 0, 'first')).toBe(false);
    expect(watch.endangered(0)).toEqual([]);
  });

  it('are reported at most once a minute together', () => {
    const watch = new Watch();
    const warnedMs: number[] = [];
    for (let nowMs = 0; nowMs < 150_000; nowMs += 1000) {
      for (let i = 0; i < 7; i += 1) if (watch.note(shopify, 'one', true, nowMs)) warnedMs.push(nowMs);
      watch.note(shopify, 'one', false, nowMs);
    }
    expect(warnedMs).toEqual([0, 60_000, 120_000]);
  });
});

describe('the list of endangered senders', () => {
  it('names a sender from the warning until a success ends its run of failures', () => {
    const watch = new Watch();
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
    const watch = new Watch();
    for (let i = 0; i < 6; i += 1) watch.note(shopify, 'shop', true, 0);
    watch.note(shopify, 'shop', false, 0);
    for (let i = 0; i < 5; i += 1) watch.note(shopify, 'shop', true, 0);
    expect(watch.endangered(0)).toEqual([]);
    watch.note(shopify, 'shop', true, 0);
    expect(watch.endangered(0)).toEqual(['shopify']);
  });

  it('names a sender until its failures are older than its window, and then warns again', () => {
    const watch = new Watch();
    for (let i = 0; i < 20; i += 1) watch.note(slack, 'shop', true, 0);
    expect(watch.endangered(0)).toEqual(['slack']);
    expect(watch.endangered(0.9 * HOUR_MS)).toEqual(['slack']);
    expect(watch.endangered(1.1 * HOUR_MS)).toEqual([]);
    const warned = Array.from({ length: 20 }, () => watch.note(slack, 'shop', true, 1.1 * HOUR_MS));
    expect(warned.filter(Boolean)).toHaveLength(1);
    expect(watch.endangered(1.1 * HOUR_MS)).toEqual(['slack']);
  });

  it('names a sender while its share of failures is above half of its limit', () => {
    const watch = new Watch();
    for (let i = 0; i < 100; i += 1) watch.note(slack, 'shop', true, 0);
    for (let i = 0; i < 99; i += 1) watch.note(slack, 'shop', false, 0);
    expect(watch.endangered(0)).toEqual(['slack']);
    for (let i = 0; i < 20; i += 1) watch.note(slack, 'shop', false, 0);
    expect(watch.endangered(0)).toEqual([]);
  });

  it('does not depend on how often it is read', () => {
    const random = seeded(7);
    const [read, unread] = [new Watch(), new Watch()];
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
