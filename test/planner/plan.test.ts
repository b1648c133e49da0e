import { describe, expect, it } from 'vitest';
import { plan, type Plan, type PlanRequest } from '@webhook-backpressure/planner';
import { adviceFor, known } from '@webhook-backpressure/senders';

/** Holding handles what arrives in 3 s and can wait for 8 s: 440 deliveries. */
const GITHUB: PlanRequest = {
  senders: [{ profile: 'github' }],
  service: { meanMs: 50 },
  concurrency: 2,
  burst: { events: 700, seconds: 3 },
};
const github = await plan(GITHUB);
const reported: number[] = [];
const held = await plan({ ...GITHUB, mode: 'hold' }, { onRun: (_, run) => reported.push(run) });

function runOf({ runs }: Plan, name: Plan['runs'][number]['name']): Plan['runs'][number] | undefined {
  return runs.find((run) => run.name === name);
}

describe('a plan', () => {
  it('recommends the inbox if holding requests loses deliveries that are never retried', () => {
    const { recommendation } = github;
    expect(recommendation.mode).toBe('inbox');
    expect(runOf(github, 'recommended')).toMatchObject({ mode: 'inbox', lost: 0, isRecommended: true });
    expect(runOf(github, 'defaults')?.lost).toBeGreaterThan(100);
    expect(runOf(github, 'nothing')?.lost).toBeGreaterThan(0);
    expect(recommendation.reasons.join(' ')).toMatch(/github never retries: [\d,]+ of its [\d,]+/);
  });

  it('says which concurrency holding requests would need', () => {
    const { enoughConcurrency, tried } = github;
    expect(enoughConcurrency).toBe(4);
    expect(tried.find(({ concurrency }) => concurrency === 4)).toMatchObject({ mode: 'hold', lost: 0 });
  });

  it('finds the capacity for a burst that can be handled in time', async () => {
    const fast = { service: { meanMs: 4 }, burst: { events: 1600, seconds: 0.2 } };
    const planned = await plan({ ...GITHUB, ...fast });
    expect(runOf(planned, 'defaults')?.lost).toBeGreaterThan(100);
    expect(planned.recommendation).toMatchObject({ mode: 'hold', options: { capacity: 6300 } });
    expect(runOf(planned, 'recommended')?.lost).toBe(0);
  });

  it('recommends the defaults if they lose nothing', async () => {
    const planned = await plan({
      senders: [{ profile: 'shopify' }],
      service: { meanMs: 50 },
      normalPerSecond: 1,
      burst: { events: 100, seconds: 5 },
    });
    expect(planned.recommendation).toMatchObject({ mode: 'hold', options: {} });
    expect(planned.runs.map(({ name }) => name)).toEqual(['nothing', 'defaults', 'inbox']);
    expect(runOf(planned, 'defaults')).toMatchObject({ lost: 0, attemptsPerEvent: 1 });
  });

  it('recommends the inbox, or says why to use it, for each sender that the advice sends there', async () => {
    for (const profile of Object.values(known)) {
      const { use, because } = adviceFor(profile);
      const small = { senders: [{ profile }], burst: { events: 20, seconds: 1 } };
      const { recommendation, warnings } = await plan({ ...GITHUB, ...small });
      expect(recommendation.mode, profile.name).toBe('hold');
      const said = warnings.some((warning) =>
        warning.startsWith(`${profile.name} ${because}: use the inbox`),
      );
      expect(said, profile.name).toBe(use === 'inbox');
    }
  });

  it('says so if the inbox cannot serve a sender that uses the response', async () => {
    const { recommendation, warnings } = await plan({ ...GITHUB, senders: [{ profile: 'twilio' }] });
    expect(recommendation.mode).toBe('inbox');
    expect(warnings.join(' ')).toContain('twilio uses your response, and the inbox answers before');
    expect(github.warnings.join(' ')).not.toContain('response');
  });

  it('recommends the mode that the request names', () => {
    expect(held.recommendation.mode).toBe('hold');
    expect(runOf(held, 'inbox')?.lost).toBe(0);
  });

  it('says so if holding requests loses more than no middleware', async () => {
    const slow = { service: { meanMs: 300 }, concurrency: 5, burst: { events: 500, seconds: 10 } };
    const planned = await plan({ ...slow, senders: [{ profile: 'zendesk' }], mode: 'hold' });
    expect(runOf(planned, 'nothing')?.lost).toBe(0);
    expect(planned.runs.find(({ isRecommended }) => isRecommended)?.lost).toBeGreaterThan(0);
    expect(planned.warnings).toContain(
      'Without the middleware fewer are lost: 0. Use the inbox, or more handlers.',
    );
  });

  it('keeps the options that the request sets', async () => {
    const { tried } = await plan({ ...GITHUB, mode: 'hold', capacity: 700, maxWaitMs: 3000 });
    const holding = tried.filter(({ mode }) => mode === 'hold');
    expect(holding.length).toBeGreaterThan(1);
    for (const { options } of holding) expect(options).toMatchObject({ capacity: 700, maxWaitMs: 3000 });
  });

  it('has the figures of each sender, which add up', async () => {
    const { runs } = await plan({
      ...GITHUB,
      burst: { events: 300, seconds: 3 },
      senders: [
        { profile: 'github', share: 3 },
        { profile: 'svix', share: 1 },
      ],
    });
    for (const { events, lost, senders } of runs) {
      expect(senders.map(({ name }) => name)).toEqual(['github', 'svix']);
      expect(senders.reduce((sum, sender) => sum + sender.events, 0)).toBe(events);
      expect(senders.reduce((sum, sender) => sum + sender.lost, 0)).toBe(lost);
      expect((senders[0]?.events ?? 0) / events).toBeGreaterThan(0.65);
    }
  });

  it('has curves with the deliveries of its figures', () => {
    const { runs, time } = github;
    const inbox = runs.find(({ mode }) => mode === 'inbox');
    const handled = inbox?.curves.completed.reduce((sum, perSecond) => sum + perSecond * time.stepS, 0);
    expect(inbox?.curves.completed).toHaveLength(time.steps);
    expect(handled).toBeCloseTo(inbox?.events ?? 0, -1);
    expect(Math.max(...(inbox?.curves.depth ?? []))).toBe(inbox?.maxDepth);
  });

  it('is equal for equal requests, and JSON', async () => {
    expect(await plan({ ...GITHUB, mode: 'hold' })).toEqual(held);
    expect(JSON.parse(JSON.stringify(held))).toEqual(held);
    expect((await plan({ ...GITHUB, mode: 'hold', seed: 2 })).runs).not.toEqual(held.runs);
  });

  it('warns of ordinary traffic that the handlers cannot manage', async () => {
    const { warnings } = await plan({
      senders: [{ profile: 'github' }],
      service: { meanMs: 5000 },
      concurrency: 1,
      normalPerSecond: 0.3,
    });
    expect(warnings.join(' ')).toMatch(/ordinary traffic of 0.3\/s .* those of 240 s of it/);
  });

  it('says what the commits of an inbox cost', () => {
    const [warning = ''] = github.warnings;
    const [, rate] = /two commits of 5 ms .* so 2 complete (\d+)\/s instead of 40\/s\.$/.exec(warning) ?? [];
    // Each worker waits for them besides its 50 ms, and at times for those of others.
    expect(Number(rate)).toBeGreaterThan(30);
    expect(Number(rate)).toBeLessThanOrEqual(2000 / 60);
  });

  it('tries no value that is the default', async () => {
    const { tried } = await plan({ ...GITHUB, mode: 'hold', senders: [{ profile: 'svix' }] });
    const longest = tried.flatMap(({ options }) => options.retryAfter?.maxSeconds ?? []);
    expect(longest.length).toBeGreaterThan(0);
    expect(longest).not.toContain(3600);
  });

  it('reports each simulation', () => {
    expect(reported).toEqual(held.tried.map((_, index) => index + 1));
  });

  it.each([
    [{ senders: [] }, 'senders must be an array of at least one entry'],
    [{ senders: [{ profile: 'shopfy' }] }, 'Did you mean "shopify"?'],
    [
      { senders: [{ profile: 3 }] },
      'senders[0].profile must be the name of a sender or a profile, but was 3.',
    ],
    [{ service: { meanMs: 0 } }, 'service.meanMs must be a number of milliseconds above 0'],
    [{ concurency: 3 }, 'concurency is not a field of a request; known here: senders,'],
    [{ burst: undefined }, 'normalPerSecond or burst must be given'],
  ])('rejects the mistake %o', async (change, message) => {
    await expect(plan({ ...GITHUB, ...change } as PlanRequest)).rejects.toThrow(message);
  });
});
