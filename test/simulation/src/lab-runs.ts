import { behaviorOf, LAB_SENDERS, labSender, type LabSender, type View } from './lab-senders.ts';

/** What the receiver does. `bound`: what the best receiver could do. */
export const RECEIVERS = ['none', 'constant', 'held', 'inbox', 'bound'] as const;
export type Receiver = (typeof RECEIVERS)[number];

/** How many deliveries arrive, and when. The workers handle 100/s. */
export const SHAPES = {
  S10: { fromS: 0, toS: 600, perSecond: 500 },
  S1: { fromS: 0, toS: 60, perSecond: 500 },
  burst: { fromS: 0, toS: 1, perSecond: 50_000 },
} as const;
export type Shape = keyof typeof SHAPES;
export const SHAPE_NAMES: readonly Shape[] = ['S10', 'S1', 'burst'];

/** One scenario with one receiver. */
export interface LabRun {
  readonly name: string;
  readonly receiver: Receiver;
  readonly scenario: object;
}

/**
 * Of 143 runs with three seeds, the lost share differed by 2.9 points at the most, and by less than 0.2 in 95 of 100; no
 * endpoint was disabled with one seed and not with another.
 */
const SEED = 1;
const RECEIVING: Readonly<Record<Receiver, object>> = {
  none: { policy: 'unbounded' },
  constant: { policy: 'queue:60' },
  held: {},
  bound: {},
  inbox: { mode: 'inbox' },
};

function viewOf(receiver: Receiver): View {
  if (receiver === 'inbox') return 'stored';
  return receiver === 'held' || receiver === 'bound' ? 'held' : 'queued';
}

/** The sender whose run represents those that behave like it. */
function representativeOf(sender: LabSender, receiver: Receiver): LabSender {
  const behavior = behaviorOf(sender, viewOf(receiver));
  return LAB_SENDERS.find((one) => behaviorOf(one, viewOf(receiver)) === behavior) ?? sender;
}

export function aloneName(sender: LabSender, shape: Shape, receiver: Receiver): string {
  return `alone | ${shape} | ${representativeOf(sender, receiver).name} | ${receiver}`;
}

function aloneRuns(shape: Shape): LabRun[] {
  const runs = new Map<string, LabRun>();
  for (const receiver of RECEIVERS) {
    // More deliveries than the inbox holds below its high-water mark by default; in the other shapes there are fewer.
    if (shape === 'S10' && receiver === 'inbox') continue;
    for (const sender of LAB_SENDERS) {
      const name = aloneName(sender, shape, receiver);
      if (runs.has(name)) continue;
      const { profile, rowOf } = representativeOf(sender, receiver);
      const arrivals = [{ ...SHAPES[shape], process: 'poisson' }];
      const senders = [{ profile, rowOf }];
      const scenario = { ...RECEIVING[receiver], service: { meanMs: 100 }, arrivals, senders, seed: SEED };
      runs.set(name, { name, receiver, scenario });
    }
  }
  return [...runs.values()];
}

/** Small senders beside a flood. */
export interface Mixture {
  readonly flood: string;
  /** By name of the sender: its rate as a share of the drain rate. */
  readonly small: Readonly<Record<string, number>>;
}

/** A sender with no profile: it ignores Retry-After and uses exponential backoff for a day. */
const UNKNOWN = {
  key: 'default',
  recognized: false,
  profile: {
    name: 'unknown',
    match: { header: 'x-unknown' },
    retryAfter: 'ignored',
    source: 'an assumption',
    verifiedAt: '2026-11-22',
  },
};

export const FLOODS = ['hookdeck', 'svix', 'stripe', 'github', 'unknown'] as const;
const SMALL = ['github', 'gitlab', 'slack', 'shopify', 'discord', 'twilio', 'gitea', 'stripe'] as const;
const ALONE = 0.2;
const TOGETHER = 0.05;
/** Below half of the drain rate, a sender that never repeats loses nothing. */
const NEARLY_HALF = 0.45;

export const MIXTURES: readonly Mixture[] = FLOODS.flatMap((flood) => {
  const others = SMALL.filter((name) => name !== flood);
  return [
    ...others.map((name): Mixture => ({ flood, small: { [name]: ALONE } })),
    ...(flood === 'github' ? [] : [{ flood, small: { github: NEARLY_HALF } }]),
    { flood, small: Object.fromEntries(others.map((name) => [name, TOGETHER])) },
  ];
});

/** The receivers of a mixture. The comparison is made for all small senders together. */
function receiversOf({ small }: Mixture): readonly Receiver[] {
  return isTogether(small) ? ['none', 'constant', 'held', 'inbox'] : ['held'];
}

export function isTogether(small: Mixture['small']): boolean {
  return Object.keys(small).length > 1;
}

export function mixtureName({ flood, small }: Mixture, receiver: Receiver): string {
  const shares = Object.entries(small).map(([name, share]) => `${name} ${String(share)}`);
  return `beside ${flood} | ${isTogether(small) ? 'all' : shares.join()} | ${receiver}`;
}

const DRAIN_RATE = 100;
const FLOOD_RATE = 500;

function mixtureRuns(mixture: Mixture): LabRun[] {
  const { flood, small } = mixture;
  const rates = Object.entries(small).map(([name, share]) => ({ name, perSecond: share * DRAIN_RATE }));
  const perSecond = rates.reduce((sum, rate) => sum + rate.perSecond, FLOOD_RATE);
  const senders = [
    { ...(flood === 'unknown' ? UNKNOWN : { profile: labSender(flood).profile }), share: FLOOD_RATE },
    ...rates.map((rate) => ({ profile: labSender(rate.name).profile, share: rate.perSecond })),
  ];
  const arrivals = [{ fromS: 0, toS: 600, perSecond, process: 'poisson' }];
  return receiversOf(mixture).map((receiver) => ({
    name: mixtureName(mixture, receiver),
    receiver,
    scenario: { ...RECEIVING[receiver], service: { meanMs: 100 }, arrivals, senders, seed: SEED },
  }));
}

export const LAB_RUNS: readonly LabRun[] = [
  ...SHAPE_NAMES.flatMap(aloneRuns),
  ...MIXTURES.flatMap(mixtureRuns),
];
