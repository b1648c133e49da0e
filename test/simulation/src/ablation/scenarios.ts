import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Delivery } from '@webhook-backpressure/core';
import type { ScenarioJson } from '../comparisons.ts';
import { labSender } from '../lab-senders.ts';

/** A scenario of the table. */
export interface AblationScenario {
  readonly name: string;
  /** Without its seed. */
  readonly scenario: ScenarioJson;
  /** The keys of small tenants, which are measured apart from the others. */
  readonly small?: readonly string[];
  /** By key: how many times as long its deliveries are handled. */
  readonly slower?: Readonly<Record<string, number>>;
  /** By index of the sender: fields of its deliveries that scenarios of the planner do not have. */
  readonly deliveries?: Readonly<Record<number, Delivery>>;
}

const FOLDER = join(import.meta.dirname, '../../scenarios');

/** Ten workers of 400 ms drain 25/s: four times fewer deliveries than in the lab. */
const DRAIN_RATE = 25;
const SERVICE = { meanMs: 400 };
const FLOOD = 5 * DRAIN_RATE;

const committed: AblationScenario[] = readdirSync(FOLDER)
  .sort()
  .map((file) => ({
    name: `committed: ${file.replace('.json', '')}`,
    scenario: JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as ScenarioJson,
  }));

interface Arrival {
  readonly fromS: number;
  readonly toS: number;
  readonly perSecond: number;
}

/** Arrivals at random. */
function poisson(...arrivals: readonly Arrival[]): object[] {
  return arrivals.map((one) => ({ ...one, process: 'poisson' }));
}

const SENDERS = [
  ...['github', 'gitlab', 'slack', 'shopify', 'stripe', 'svix', 'hookdeck', 'zapier', 'convoy'],
  ...['woocommerce', 'zendesk', 'intercom', 'jira', 'pagerduty', 'aws-sns'],
];

/** Those of which the lab's ten minutes differ from its one minute. */
const LONGER = ['slack', 'shopify', 'svix', 'convoy', 'aws-sns'];
/** They disable the endpoint after some failures. At five times the drain rate nothing prevents that. */
const DISABLING = ['gitlab', 'shopify', 'woocommerce', 'zendesk', 'intercom'];

/** The lab's S1 and S10, the latter for two minutes, and a mild overload. */
const alone = [
  ...SENDERS.map((name) => lone('S1', name, 60, FLOOD)),
  ...LONGER.map((name) => lone('S10', name, 120, FLOOD)),
  ...DISABLING.map((name) => lone('1.3×', name, 180, 1.3 * DRAIN_RATE)),
];

function lone(title: string, name: string, toS: number, perSecond: number): AblationScenario {
  const { profile, rowOf } = labSender(name);
  return {
    name: `alone ${title}: ${name}`,
    scenario: {
      service: SERVICE,
      arrivals: poisson({ fromS: 0, toS, perSecond }),
      senders: [{ profile, rowOf }],
    },
  };
}

/** A sender without a profile: it ignores Retry-After. */
const UNKNOWN = { key: 'default', retry: 'exponential:5:2:3600', timeoutMs: 15_000, maxAttempts: 14 };

const FLOODS = ['hookdeck', 'svix', 'stripe', 'github', 'unknown'];
const SMALL = ['github', 'gitlab', 'slack', 'shopify', 'discord', 'twilio', 'gitea', 'stripe'];

/** The lab's mixtures for two minutes. Shares are those of the drain rate. */
function mixture(flood: string, small: readonly string[], share: number): AblationScenario {
  const others = small.filter((name) => name !== flood);
  const sender = flood === 'unknown' ? UNKNOWN : { profile: labSender(flood).profile };
  const perSecond = FLOOD + others.length * share * DRAIN_RATE;
  return {
    name: `mixture: ${others.length > 1 ? 'all' : others.join()} ${String(share)}× beside ${flood}`,
    small: others,
    scenario: {
      service: SERVICE,
      arrivals: poisson({ fromS: 0, toS: 120, perSecond }),
      senders: [
        { ...sender, share: FLOOD },
        ...others.map((name) => ({ profile: labSender(name).profile, share: share * DRAIN_RATE })),
      ],
    },
  };
}

const mixtures = FLOODS.flatMap((flood) => [
  mixture(flood, SMALL, 0.05),
  ...(flood === 'hookdeck' || flood === 'svix' ? [mixture(flood, ['github'], 0.45)] : []),
]);

/** Keys of equal senders. */
function keys(name: string, count: number, sender: object): { key: string }[] {
  return Array.from({ length: count }, (_, i) => ({ ...sender, key: `${name} ${String(i + 1)}` }));
}

function names(senders: readonly { key: string }[]): string[] {
  return senders.map(({ key }) => key);
}

const OBEYING = { retry: 'retry-after' };
const tenants = keys('tenant', 20, { ...OBEYING, share: 0.02 });
const honest = keys('honest', 8, { ...OBEYING, share: 0.08 });
const forged = keys('forged', 30, { profile: labSender('github').profile, share: FLOOD / DRAIN_RATE / 30 });
const fast = keys('fast', 4, { ...OBEYING, share: 0.225 });
const modest = keys('modest', 4, { ...OBEYING, share: 2 });

const tenancies: AblationScenario[] = [
  {
    name: 'tenants: 20 small ones beside a flood',
    small: names(tenants),
    scenario: {
      service: SERVICE,
      arrivals: poisson({ fromS: 0, toS: 120, perSecond: FLOOD + 10 }),
      senders: [{ ...OBEYING, key: 'flood', share: FLOOD / DRAIN_RATE }, ...tenants],
    },
  },
  {
    name: 'tenants: 20 small ones beside a flood that never retries',
    small: names(tenants),
    scenario: {
      service: SERVICE,
      arrivals: poisson({ fromS: 0, toS: 120, perSecond: FLOOD + 10 }),
      senders: [{ retry: 'none', key: 'flood', share: FLOOD / DRAIN_RATE }, ...tenants],
    },
  },
  {
    name: 'tenants: 300 equal ones, five times overload',
    scenario: {
      service: SERVICE,
      arrivals: poisson({ fromS: 0, toS: 60, perSecond: FLOOD }),
      senders: keys('tenant', 300, OBEYING),
    },
  },
  {
    name: 'tenants: 8 honest ones beside 30 keys that claim to be GitHub',
    small: names(honest),
    scenario: {
      service: SERVICE,
      arrivals: poisson({ fromS: 0, toS: 120, perSecond: FLOOD + 16 }),
      senders: [...forged, ...honest],
    },
  },
  {
    name: 'tenants: one with handlers 20 times slower',
    small: names(fast),
    slower: { slow: 20 },
    scenario: {
      service: { meanMs: 50, distribution: 'exponential' },
      arrivals: poisson({ fromS: 0, toS: 120, perSecond: 100 }),
      senders: [...fast, { ...OBEYING, key: 'slow', share: 0.1 }],
    },
  },
  {
    name: 'tenants: two workers per key, one key at three times that',
    small: names(modest),
    scenario: {
      intake: { maxConcurrencyPerKey: 2 },
      service: { meanMs: 400, distribution: 'exponential' },
      arrivals: poisson({ fromS: 0, toS: 120, perSecond: 23 }),
      senders: [{ ...OBEYING, key: 'noisy', share: 15 }, ...modest],
    },
  },
];

const hangUps = [1.2, 2].map((times): AblationScenario => ({
  name: `hang-ups: unknown senders after 5 s, ${String(times)}× the drain rate`,
  scenario: {
    service: { meanMs: 400, distribution: 'exponential' },
    arrivals: poisson({ fromS: 0, toS: 240, perSecond: times * DRAIN_RATE }),
    senders: [{ key: 'default', retry: 'exponential:5:2:3600', timeoutMs: 5000, maxAttempts: 14 }],
  },
}));

const fleets = (['random', 'least-connections'] as const).map((balancer): AblationScenario => ({
  name: `fleet: 4 receivers, ${balancer}`,
  scenario: {
    intake: { capacity: 250, concurrency: 32 },
    service: { meanMs: 1280, distribution: 'exponential' },
    fleet: { receivers: 4, balancer },
    arrivals: poisson({ fromS: 0, toS: 200, perSecond: 8 }, { fromS: 60, toS: 85, perSecond: FLOOD - 8 }),
    senders: [{ ...OBEYING, key: 'shop' }],
  },
}));

const others: AblationScenario[] = [
  {
    name: 'a queue of 20',
    scenario: {
      intake: { capacity: 20, concurrency: 10 },
      service: { meanMs: 100, distribution: 'exponential' },
      arrivals: poisson({ fromS: 0, toS: 180, perSecond: 50 }, { fromS: 60, toS: 80, perSecond: 250 }),
      senders: [{ ...OBEYING, key: 'shop' }],
    },
  },
  ...[4, 20].map((toS) => ({
    name: `process: frozen for 1 s of every 3 s, ${String(toS)} s`,
    scenario: {
      intake: { capacity: 1000, concurrency: 10, maxWaitMs: 4000 },
      service: { meanMs: 50 },
      process: {
        acceptMs: 0.5,
        refuseMs: 0.5,
        handleMs: 0.25,
        freeze: Array.from({ length: Math.ceil((toS - 1) / 3) }, (_, i) => ({
          fromS: 1 + 3 * i,
          toS: 2 + 3 * i,
        })),
      },
      arrivals: [{ fromS: 0, toS, perSecond: 1000, process: 'uniform' }],
      senders: [{ key: 'shop', retry: 'retry-after', timeoutMs: 5000 }],
    },
  })),
  ...[5, 100].map((initial) => ({
    name: `adaptive concurrency: a knee at 25, from ${String(initial)}`,
    scenario: {
      intake: { capacity: 400, concurrency: { initial, min: 1, max: 200 } },
      service: {
        meanMs: 400,
        distribution: 'exponential',
        knee: [
          { fromS: 0, concurrency: 25 },
          { fromS: 180, concurrency: 12.5 },
        ],
      },
      arrivals: poisson({ fromS: 0, toS: 240, perSecond: 90 }),
      senders: [{ key: 'shop', retry: 'retry-after' }],
    },
  })),
];

const handshakes: AblationScenario[] = [
  {
    name: 'handshakes: beside a flood with their key',
    deliveries: { 0: { handshake: true } },
    scenario: {
      service: SERVICE,
      arrivals: poisson({ fromS: 0, toS: 120, perSecond: FLOOD }),
      senders: [
        { key: 'shop', retry: 'none', share: 0.5 },
        { ...OBEYING, key: 'shop', share: FLOOD - 0.5 },
      ],
    },
  },
];

export const SCENARIOS: readonly AblationScenario[] = [
  ...committed,
  ...alone,
  ...mixtures,
  ...tenancies,
  ...hangUps,
  ...fleets,
  ...others,
  ...handshakes,
];
