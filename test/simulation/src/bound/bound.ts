import type { Scenario, Traffic } from '@webhook-backpressure/planner/parts';
import { attemptSpans, type Span } from './attempt-spans.ts';
import { Capacity } from './capacity.ts';
import { Supply, type Group } from './supply.ts';
import { TimeGrid } from './time-grid.ts';

/** The most that any receiver could have delivered. */
export interface Bound {
  readonly events: number;
  readonly delivered: number;
  readonly lost: number;
}

/** The default of the inbox. */
const INBOX_CAPACITY = 100_000;
/** After the last attempt that matters, an event counts as delivered. No sender retries for longer. */
const MAX_MS = 40 * 86_400_000;

/**
 * Computes how many events the best receiver could deliver that has the workers of the scenario: one that knows all
 * arrivals, all senders and the random numbers beforehand. No policy delivers more, so it says how much of a loss is the
 * policy's.
 *
 * It is a maximum flow from the events, grouped by sender and second, to seconds of the workers. An event can be handled
 * while one of its attempts is with the receiver: see {@link attemptSpans}. Where it is not exact, it is too high: a
 * handler may be split, a span touches whole buckets, and retries come when the receiver would wish for them. Service
 * times count with their mean, so that with random ones a lucky run may deliver slightly more.
 *
 * In mode `inbox` an attempt must only meet a free place. Places become free as deliveries are handled.
 */
export function boundOf(scenario: Scenario, traffic: Traffic): Bound {
  const { count: events, firstMs } = traffic;
  const lastMs = firstMs.at(-1) ?? 0;
  const capacity = new Capacity(scenario);
  const spansOf = scenario.senders.map((sender) => usable(attemptSpans(sender, MAX_MS), scenario, capacity));
  const ends = spansOf.flat().map(({ toMs, fromMs }) => (toMs === Infinity ? fromMs : toMs));
  const grid = new TimeGrid(lastMs, lastMs + Math.max(0, ...ends));
  const places =
    scenario.inbox === undefined ? undefined : (scenario.inbox.options.capacity ?? INBOX_CAPACITY);
  const supply = new Supply(grid, capacity, places);
  for (const [index, groups] of groupsOf(traffic, grid, scenario.senders.length).entries())
    for (const group of groups) supply.demand(group, spansOf[index] as Span[]);
  const delivered = supply.most();
  return { events, delivered, lost: events - delivered };
}

/** The spans in which a delivery can be handled, or stored by an inbox. */
function usable(spans: readonly Span[], { inbox, service }: Scenario, { spacingMs }: Capacity): Span[] {
  if (inbox !== undefined) return [...spans];
  const leastMs = service.distribution === 'constant' ? service.meanMs : 0;
  return spans
    .filter(({ fromMs, toMs }) => toMs - fromMs >= leastMs)
    .map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs + spacingMs }));
}

function groupsOf({ count, firstMs, sender }: Traffic, grid: TimeGrid, senders: number): Group[][] {
  const groups = Array.from({ length: senders }, (): Group[] => []);
  const endsMs = new Float64Array(senders).fill(-1);
  for (let i = 0; i < count; i += 1) {
    const atMs = firstMs[i] as number;
    const index = sender[i] as number;
    const own = groups[index] as Group[];
    if (atMs >= (endsMs[index] as number)) {
      own.push({ count: 0, firstMs: atMs, lastMs: atMs });
      endsMs[index] = grid.toMs(grid.at(atMs));
    }
    const group = own.at(-1) as Group;
    group.count += 1;
    group.lastMs = atMs;
  }
  return groups;
}
