/**
 * The protocol of claims, leases and settlements, without any code of the inbox: deliveries in a store, and workers that
 * claim them. Small enough that every state can be visited.
 */

/** A delivery in the store: its claim is known by its number, the fence. */
interface Delivery {
  readonly is: 'pending' | 'claimed' | 'completed';
  /** The claims so far. */
  readonly claims: number;
}

/** What a worker knows of one claim. */
interface Held {
  readonly claim: number;
  /** `running`: its handler; `settling`: the settlement is sent, and sent again until an answer arrives. */
  readonly is: 'running' | 'settling';
}

/** A state of the whole. */
export interface State {
  readonly deliveries: readonly Delivery[];
  /** By worker and delivery. */
  readonly held: readonly (readonly (Held | null)[])[];
  readonly faultsLeft: number;
  /** By delivery: how often the store has completed it. */
  readonly completions: readonly number[];
  /** Whether a delivery was completed for a claim that had ended, while another worker had the next claim. */
  readonly isUsurped: boolean;
  /** By delivery: how often a worker was answered that it had completed it. */
  readonly answers: readonly number[];
  /** By delivery: how often its handler has ended. */
  readonly handlings: readonly number[];
}

/** Rules that tests switch off, to see that the search finds the consequences. */
export interface Rules {
  /** `settle` compares the number of the claim. */
  readonly isFenced: boolean;
  /** `claim` takes pending deliveries only, and not those with a lease. */
  readonly isExclusive: boolean;
  /** A claim whose lease has ended becomes pending again. */
  readonly leasesEnd: boolean;
}

/** A step, named by the call of `InboxStore` or what happens beside it. */
export interface Step {
  readonly name: string;
  readonly to: State;
}

export function first(workers: number, deliveries: number, faults: number): State {
  const each = <T>(value: T): T[] => Array.from({ length: deliveries }, () => value);
  return {
    deliveries: each({ is: 'pending', claims: 0 }),
    held: Array.from({ length: workers }, () => each(null)),
    faultsLeft: faults,
    completions: each(0),
    isUsurped: false,
    answers: each(0),
    handlings: each(0),
  };
}

/** All steps from a state. */
export function stepsFrom(state: State, rules: Rules): Step[] {
  const steps: Step[] = [];
  for (let d = 0; d < state.deliveries.length; d += 1) {
    for (let w = 0; w < state.held.length; w += 1) steps.push(...ofWorker(state, w, d, rules));
    const { is } = at(state.deliveries, d);
    const isHeld = state.held.some((ofOne) => at(ofOne, d)?.claim === at(state.deliveries, d).claims);
    // The lease of a worker that lives is renewed, so it ends only by a fault: the worker stands still.
    if (rules.leasesEnd && is === 'claimed')
      steps.push({ name: 'lease ends', to: released(isHeld ? faulty(state) : state, d) });
  }
  return steps.filter(({ to }) => to.faultsLeft >= 0);
}

function ofWorker(state: State, w: number, d: number, rules: Rules): Step[] {
  const held = at(at(state.held, w), d);
  const delivery = at(state.deliveries, d);
  if (held === null) {
    if (delivery.is === 'completed' || (delivery.is === 'claimed' && rules.isExclusive)) return [];
    const claims = delivery.claims + 1;
    const claimed = withDelivery(state, d, { is: 'claimed', claims });
    return [
      { name: 'claim', to: withHeld(claimed, w, d, { claim: claims, is: 'running' }) },
      { name: 'claim, answer lost', to: faulty(claimed) },
    ];
  }
  const died = faulty({
    ...state,
    held: replaced(
      state.held,
      w,
      at(state.held, w).map(() => null),
    ),
  });
  if (held.is === 'running') {
    const ended = { ...state, handlings: plusOne(state.handlings, d) };
    return [
      { name: 'handler ends', to: withHeld(ended, w, d, { ...held, is: 'settling' }) },
      { name: 'process dies', to: died },
    ];
  }
  const isOwn = delivery.is === 'claimed' && (!rules.isFenced || delivery.claims === held.claim);
  const settled = isOwn
    ? {
        ...withDelivery(state, d, { ...delivery, is: 'completed' as const }),
        completions: plusOne(state.completions, d),
        isUsurped: state.isUsurped || delivery.claims !== held.claim,
      }
    : state;
  const answered = isOwn ? { ...settled, answers: plusOne(settled.answers, d) } : settled;
  return [
    { name: 'settle', to: withHeld(answered, w, d, null) },
    { name: 'settle, answer lost', to: faulty(settled) },
    { name: 'process dies', to: died },
  ];
}

/** The sentences about a state that must not be. */
export function violationsIn(
  { deliveries, held, completions, isUsurped, answers, handlings }: State,
  faults: number,
): string[] {
  const violations: string[] = isUsurped ? ['completed for a claim that had ended'] : [];
  for (let d = 0; d < deliveries.length; d += 1) {
    const { is, claims } = at(deliveries, d);
    if (at(completions, d) > 1) violations.push('completed twice');
    if (at(answers, d) > 1) violations.push('two workers were told that they have completed it');
    if (is === 'completed' && at(handlings, d) === 0) violations.push('completed without a handler');
    if (at(handlings, d) > 1 + faults) violations.push('handled more often than faults explain');
    const current = held.filter((ofOne) => at(ofOne, d)?.claim === claims);
    if (is === 'claimed' && current.length > 1) violations.push('two workers hold the same claim');
  }
  return violations;
}

export function isDone({ deliveries }: State): boolean {
  return deliveries.every(({ is }) => is === 'completed');
}

function released(state: State, d: number): State {
  return withDelivery(state, d, { ...at(state.deliveries, d), is: 'pending' });
}

function faulty(state: State): State {
  return { ...state, faultsLeft: state.faultsLeft - 1 };
}

function withDelivery(state: State, d: number, delivery: Delivery): State {
  return { ...state, deliveries: replaced(state.deliveries, d, delivery) };
}

function withHeld(state: State, w: number, d: number, held: Held | null): State {
  return { ...state, held: replaced(state.held, w, replaced(at(state.held, w), d, held)) };
}

function plusOne(counts: readonly number[], index: number): number[] {
  return replaced(counts, index, at(counts, index) + 1);
}

function replaced<T>(list: readonly T[], index: number, value: T): T[] {
  return list.map((one, at) => (at === index ? value : one));
}

function at<T>(list: readonly T[], index: number): T {
  return list[index] as T;
}
