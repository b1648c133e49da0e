/** A scenario as in its file: JSON that is checked when it runs. */
export type ScenarioJson = Readonly<Record<string, unknown>>;

/** One policy of Retry-After, to be compared with others on the same scenario. */
export interface Comparison {
  readonly name: string;
  readonly title: string;
  readonly policy: string;
  /** Changes to the senders of the scenario. */
  readonly senders: Readonly<Record<string, unknown>>;
}

/** What receivers send today, what most senders do instead, and the intake's own strategy. */
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

/** The names of the scenarios on which the policies are compared. */
export const COMPARED: readonly string[] = ['a', 'b-500', 'b-500-give-up'];

export function under(comparison: Comparison, scenario: ScenarioJson): ScenarioJson {
  const senders = scenario['senders'] as readonly ScenarioJson[];
  return {
    ...scenario,
    policy: comparison.policy,
    senders: senders.map((sender) => ({ ...sender, ...comparison.senders })),
  };
}
