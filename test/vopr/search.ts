import { runInboxes } from './inboxes.ts';
import { runIntakes } from './intakes.ts';
import { runSenders } from './outboxes.ts';
import { World } from './world.ts';
import { withKiller } from './killers.ts';
import type { Outcome } from './store-run.ts';
import { draw, type Plan } from './plan.ts';

/** A seed that fails, with the smallest plan found that still does. */
export interface Found {
  readonly plan: Plan;
  readonly outcome: Outcome;
}

const RUNS = { inboxes: runInboxes, senders: runSenders, intakes: runIntakes };

/** Runs a plan. What is thrown or rejected anywhere is a failure as well. */
export async function runPlan(plan: Plan): Promise<Outcome> {
  const stray: string[] = [];
  const note = (error: unknown): void => {
    stray.push(`unhandled: ${error instanceof Error ? (error.stack ?? error.message) : typeof error}`);
  };
  process.on('unhandledRejection', note);
  try {
    const { failures, world } = await RUNS[plan.kind](plan);
    return { failures: [...failures, ...stray], world };
  } catch (error) {
    note(error);
    return { failures: stray, world: new World(plan.seed) };
  } finally {
    process.off('unhandledRejection', note);
  }
}

/** Runs the plan of a seed. Returns undefined if nothing is wrong. */
export async function search(seed: number): Promise<Found | undefined> {
  const plan = withKiller(draw(seed));
  const outcome = await runPlan(plan);
  return outcome.failures.length === 0 ? undefined : { plan, outcome };
}

/** How often a plan is run to make it smaller. */
const MAX_RUNS = 300;

/** Removes faults, deliveries and acts from a plan while it still fails by the same rule. */
export async function shrink(found: Found): Promise<Found> {
  let best = found;
  let runs = 0;
  const rule = ruleOf(found.outcome);
  const attempt = async (plan: Plan): Promise<boolean> => {
    if (runs >= MAX_RUNS) return false;
    runs += 1;
    const outcome = await runPlan(plan);
    if (outcome.failures.length === 0 || ruleOf(outcome) !== rule) return false;
    best = { plan, outcome };
    return true;
  };
  for (const field of ['faults', 'deliveries', 'faults'] as const) {
    for (let size = Math.ceil(best.plan[field].length / 2); size >= 1; size = Math.floor(size / 2)) {
      for (let from = 0; from < best.plan[field].length;) {
        const rest = best.plan[field].toSpliced(from, size);
        if (!(await attempt({ ...best.plan, [field]: rest }))) from += size;
      }
    }
  }
  for (const [at] of best.plan.deliveries.entries()) {
    const calm = best.plan.deliveries.map((one, i) =>
      i === at ? { ...one, acts: [], isRepeated: false } : one,
    );
    await attempt({ ...best.plan, deliveries: calm });
  }
  return best;
}

function ruleOf({ failures }: Outcome): string {
  return (failures[0] ?? '').split(' ').slice(0, 2).join(' ');
}
