/** A scenario as its file has it: JSON that is checked when it runs. */
export type ScenarioJson = Readonly<Record<string, unknown>>;

/** One of the ways to tell senders when to come back, to be compared on the same scenario. */
export interface Comparison {
  readonly name: string;
  readonly title: string;
  readonly policy: string;
  /** What the senders do and say, where it differs from the scenario. */
  readonly senders: Readonly<Record<string, unknown>>;
}

/** What receivers tell today, what most senders do instead, and ours. */
export const COMPARISONS: readonly Comparison[] = [
  { name: 'constant-1', title: 'constant 1 s', policy: 'constant:1', senders: {} },
  { name: 'constant-10', title: 'constant 10 s', policy: 'constant:10', senders: {} },
  { name: 'constant-60', title: 'constant 60 s', policy: 'constant:60', senders: {} },
  { name: 'depth-rate', title: 'depth ÷ drain rate', policy: 'depth-rate', senders: {} },
  {
    name: 'exponential',
    title: 'Retry-After ignored, exponential backoff',
    policy: 'depth-rate',
    senders: { retry: 'exponential:5:2:3600' },
  },
  { name: 'booked-unknown', title: 'booked, ids unknown', policy: 'intake', senders: { identified: false } },
  { name: 'booked', title: 'booked, ids known', policy: 'intake', senders: { identified: true } },
];

/** The scenarios on which they are compared, by name. */
export const COMPARED: readonly string[] = ['a', 'b-500', 'b-500-give-up'];

export function under(comparison: Comparison, scenario: ScenarioJson): ScenarioJson {
  const senders = scenario['senders'] as readonly ScenarioJson[];
  return {
    ...scenario,
    policy: comparison.policy,
    senders: senders.map((sender) => ({ ...sender, ...comparison.senders })),
  };
}
