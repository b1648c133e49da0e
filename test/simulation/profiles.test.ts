import { describe, expect, it } from 'vitest';
import { builtInSenders, type SenderProfile, type SwitchOffRule } from '@webhook-backpressure/senders';
import { Endpoint, type Failure, profileHabit, simulate } from '@webhook-backpressure/planner/parts';

const SOURCE = { source: 'a test', verifiedAt: '2026-11-22' };
const acme: SenderProfile = { name: 'acme', match: { header: 'x-acme' }, retryAfter: 'ignored', ...SOURCE };

function failed(attempts: number, more: Partial<Failure> = {}): Failure {
  return { attempts, retryAfterS: undefined, status: 503, ageS: 0, ...more };
}

/** Without the spread of ±20 %. */
function delayOf(profile: Partial<SenderProfile>, failure: Failure): number | undefined {
  const delayS = profileHabit({ ...acme, ...profile })(failure, () => 0.5);
  return delayS === undefined ? undefined : Number(delayS.toFixed(6));
}

describe('the retries of a profile', () => {
  it('follow its schedule, with a spread of 20 %', () => {
    const habit = profileHabit({ ...acme, retries: { scheduleS: [0, 60, 300] } });
    const [shortest, longest] = [0, 1].map((random) => habit(failed(2), () => random));
    expect(shortest).toBe(48);
    expect(longest).toBeCloseTo(72);
    expect([1, 2, 3, 4].map((n) => delayOf({ retries: { scheduleS: [0, 60, 300] } }, failed(n)))).toEqual([
      0,
      60,
      300,
      undefined,
    ]);
  });

  it('repeat the last step up to the attempts or to the end of the window', () => {
    const most = { retries: { scheduleS: [20], maxAttempts: 3 } };
    expect([1, 2, 3].map((n) => delayOf(most, failed(n)))).toEqual([20, 20, undefined]);
    const window = { retries: { scheduleS: [20], windowS: 100 } };
    expect(delayOf(window, failed(4, { ageS: 75 }))).toBe(20);
    expect(delayOf(window, failed(4, { ageS: 81 }))).toBeUndefined();
  });

  it('keep the last step of a schedule that fills the window, although the spread moves it', () => {
    const habit = profileHabit({ ...acme, retries: { scheduleS: [50, 50], windowS: 100 } });
    expect(habit(failed(2, { ageS: 59 }), () => 1)).toBeCloseTo(60);
  });

  it('come only after the failures that the sender repeats', () => {
    const retries = { scheduleS: [20], after: [503, 'timeout'] } as const;
    expect(delayOf({ retries }, failed(1, { status: 503 }))).toBe(20);
    expect(delayOf({ retries }, failed(1, { status: undefined }))).toBe(20);
    expect(delayOf({ retries }, failed(1, { status: 429 }))).toBeUndefined();
    const refused = { retries: { ...retries, after: [429, 503] } } as const;
    expect(delayOf(refused, failed(1, { status: undefined }))).toBeUndefined();
    expect(delayOf({ retries: 'none' }, failed(1))).toBeUndefined();
  });

  it('use exponential backoff for a day where no schedule is published', () => {
    expect([1, 2, 10, 30].map((n) => delayOf({}, failed(n)))).toEqual([10, 20, 3600, 3600]);
    expect(delayOf({}, failed(30, { ageS: 86_000 }))).toBeUndefined();
  });

  it.each<[string, Partial<SenderProfile>, Partial<Failure>, number]>([
    ['ignored', { retryAfter: 'ignored' }, { retryAfterS: 7 }, 10],
    ['honored exactly', { retryAfter: { unit: 's' } }, { retryAfterS: 7 }, 7],
    ['raised', { retryAfter: { unit: 's', minSeconds: 9 } }, { retryAfterS: 7 }, 9],
    ['lowered', { retryAfter: { unit: 's', maxSeconds: 5 } }, { retryAfterS: 7 }, 5],
    ['raised to the step', { retryAfter: { unit: 's', steps: { min: 1, max: 2 } } }, { retryAfterS: 7 }, 10],
    [
      'lowered to two steps',
      { retryAfter: { unit: 's', steps: { min: 1, max: 2 } } },
      { retryAfterS: 70 },
      20,
    ],
    ['missing after a timeout', { retryAfter: { unit: 's' } }, { status: undefined }, 10],
  ])('treat Retry-After as the profile says: %s', (_, profile, failure, delayS) => {
    expect(delayOf(profile, failed(1, failure))).toBe(delayS);
  });

  it('wait at least a minute after a 429 if the sender is Svix', () => {
    const svix = builtInSenders.find(({ name }) => name === 'svix');
    expect(delayOf({ ...svix }, failed(1, { status: 429, retryAfterS: 8 }))).toBe(60);
    expect(delayOf({ ...svix }, failed(1, { status: 503, retryAfterS: 8 }))).toBeLessThanOrEqual(10);
  });
});

/** The times of failed attempts, one each second, at which the endpoint is enabled. */
function triedUntil(rule: SwitchOffRule, seconds: number, isFailure: (s: number) => boolean): number[] {
  const endpoint = new Endpoint(rule);
  const tried: number[] = [];
  for (let s = 0; s < seconds; s += 1) {
    if (endpoint.isOff(s * 1000)) continue;
    tried.push(s);
    if (isFailure(s)) endpoint.failed(1, s * 1000);
    else endpoint.succeeded(s * 1000);
  }
  return tried;
}

const always = (): boolean => true;

describe('an endpoint', () => {
  it('is disabled after consecutive failures, until the end of the run', () => {
    expect(triedUntil({ inARow: 3 }, 100, always)).toEqual([0, 1, 2]);
    expect(triedUntil({ inARow: 3 }, 9, (s) => s % 3 !== 2)).toHaveLength(9);
  });

  it('is disabled for longer each time, by one more failure, until a success', () => {
    const rule = { inARow: 2, offS: [10, 20] };
    expect(triedUntil(rule, 80, always)).toEqual([0, 1, 11, 31, 51, 71]);
    expect(triedUntil(rule, 40, (s) => s !== 11)).toEqual([0, 1, 11, 12, 13, 23]);
  });

  it('is disabled above a share of failures, from some answers on', () => {
    const rule = { ratio: 0.5, minAnswers: 10, windowS: 600 };
    expect(triedUntil(rule, 100, always)).toHaveLength(10);
    expect(triedUntil(rule, 100, (s) => s >= 40)).toHaveLength(80);
    expect(triedUntil({ ratio: 0.5, windowS: 600 }, 100, always)).toHaveLength(20);
  });

  it('is disabled after failures within a window', () => {
    const rule = { count: 5, windowS: 10 };
    expect(triedUntil(rule, 100, (s) => s % 3 === 0)).toHaveLength(100);
    expect(triedUntil(rule, 100, (s) => s % 2 === 0)).toHaveLength(9);
  });

  it('counts the failures in a window anew after it was disabled', () => {
    const rule = { count: 3, windowS: 600, offS: [10] };
    expect(triedUntil(rule, 30, always)).toEqual([0, 1, 2, 12, 13, 14, 24, 25, 26]);
  });

  it('can be disabled by the failures of one delivery', () => {
    const endpoint = new Endpoint({ inARow: 2 }, 'delivery');
    for (let s = 0; s < 50; s += 1) endpoint.failed(1, s * 1000);
    expect(endpoint.isOff(50_000)).toBe(false);
    endpoint.failed(2, 50_000);
    expect(endpoint.isOff(50_000)).toBe(true);
  });
});

/** 20/s for a minute for a receiver of 10/s. */
const overload = {
  intake: { concurrency: 1, capacity: 20 },
  service: { meanMs: 100 },
  arrivals: [{ fromS: 0, toS: 60, perSecond: 20, process: 'poisson' }],
};

describe('a simulated profile', () => {
  it('has the name of any known sender, also of one without a header', async () => {
    const senders = [{ profile: 'mailgun' }, { profile: 'unknown' }];
    const { scenario } = await simulate({ ...overload, senders });
    expect(scenario.senders).toMatchObject([
      { key: 'mailgun', recognized: true },
      { key: 'default', recognized: false },
    ]);
  });

  it('reaches the intake as the delivery of its headers', async () => {
    const profile = builtInSenders.find(({ name }) => name === 'shopify') as SenderProfile;
    const { results, scenario } = await simulate({ ...overload, senders: [{ profile: 'shopify' }] });
    expect(scenario.senders[0]).toMatchObject({ key: 'shopify', profile, timeoutMs: 5000 });
    // The intake keeps a fifth of the timeout.
    expect(results.perKey['shopify']?.p99WaitS).toBeLessThanOrEqual(4);
  });

  it('loses events while its endpoint is disabled, without an attempt', async () => {
    const profile = { ...acme, timeoutMs: 5000, retries: 'none', switchOff: { inARow: 2 } };
    const { results } = await simulate({ ...overload, policy: 'unbounded', senders: [{ profile }] });
    const { events = 0, attemptsPerEvent, lost, handledInVain, switchedOff } = results.perKey['acme'] ?? {};
    expect(switchedOff).toBe(1);
    expect(attemptsPerEvent).toBeLessThan(0.5);
    expect(lost).toBeGreaterThan(0.8 * events);
    // The first two timeouts disable the endpoint; all others that were queued before are handled too.
    expect(handledInVain).toBeGreaterThan(10);
  });

  it('is handled again by a receiver without backpressure when it has timed out and retries', async () => {
    const profile = { ...acme, timeoutMs: 2000, retries: { scheduleS: [30] } };
    const senders = [{ profile }];
    const { results } = await simulate({ ...overload, policy: 'unbounded', senders });
    expect(results.perKey['acme']?.handledAgain).toBeGreaterThan(100);
    const { results: held } = await simulate({ ...overload, senders });
    expect(held.perKey['acme']).toMatchObject({ handledAgain: 0, handledInVain: 0 });
    expect(held.perKey['acme']?.delivered).toBeGreaterThan(results.perKey['acme']?.delivered ?? Infinity);
  });

  it.each(['unbounded', 'queue:60'])(
    'has the same results with and without a process: %s',
    async (policy) => {
      const senders = [{ profile: 'slack' }, { profile: 'shopify' }, { profile: 'hubspot' }];
      const fast = await simulate({ ...overload, policy, senders });
      const slow = await simulate({ ...overload, policy, senders, process: {} });
      expect(fast.results).toEqual(slow.results);
    },
  );

  it('loses what it takes for delivered: Amazon SNS after a 429', async () => {
    const senders = [{ profile: { ...acme, retries: { scheduleS: [20, 20, 20], after: [503, 'timeout'] } } }];
    const { results } = await simulate({ ...overload, policy: 'queue:60', senders });
    expect(results.attemptsPerEvent).toBe(1);
    expect(results.lost).toBeGreaterThan(300);
  });

  it('is acknowledged by an inbox, and repeats a status that it does not take for success', async () => {
    const accepting = { ...acme, success: 204, retries: { scheduleS: [30] } };
    const receiver = { ...overload, mode: 'inbox', intake: undefined, inbox: { concurrency: 1 } };
    const { results } = await simulate({ ...receiver, senders: [{ profile: accepting }] });
    expect(results).toMatchObject({ attemptsPerEvent: 1, lost: 0, inbox: { handledTwice: 0 } });
    // The receiver does not know what it wants, and cannot recognize the second attempt without an id.
    const unknown = await simulate({ ...receiver, senders: [{ profile: accepting, recognized: false }] });
    expect(unknown.results).toMatchObject({ attemptsPerEvent: 2, lost: 0 });
    expect(unknown.results.inbox?.handledTwice).toBe(unknown.results.events);
  });

  it('reads a constant in its own unit', async () => {
    const honoring = { ...acme, retryAfter: { unit: 'ms' }, retries: { maxAttempts: 3 } };
    const { results } = await simulate({ ...overload, policy: 'queue:60', senders: [{ profile: honoring }] });
    const maxDelayS = results.delayS.max ?? Infinity;
    expect(maxDelayS).toBeLessThan(15);
  });

  it.each([
    ['shoppify', 'Unknown sender "shoppify". Did you mean "shopify"?'],
    [{ ...acme, name: '' }, 'senders[0].profile.name must be a non-empty string, but was the string ""'],
  ])('must exist and be valid: %j', async (profile, message) => {
    await expect(simulate({ ...overload, senders: [{ profile }] })).rejects.toThrow(message);
  });
});
