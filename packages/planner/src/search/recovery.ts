import { run } from '../runs/run.ts';
import { parseScenario } from '../scenario/scenario.ts';
import type { Second } from '../senders/observations.ts';
import { Unsettled } from '../senders/senders.ts';
import { drawTraffic } from '../traffic/traffic.ts';
import type { Configuration, Recovery } from './plan.ts';
import { isOverloaded, maxStartsOf, type Mode, type Request } from './request.ts';
import { scenarioOf } from './trials.ts';

const BEFORE_S = 60;
const MIN_AFTER_S = 300;
/** The time after a trigger, in times that a queue of the same deliveries needs to drain without retries. */
const DRAIN_TIMES = 2;
const MAX_STALL_S = 300;
/** More take too long, in each of a dozen runs. */
const MAX_DELIVERIES = 60_000;
/** Senders that send more keep it down: the run ends, without curves. */
const MAX_ATTEMPTS = 1_000_000;
/** An inbox stores deliveries during the stall and handles them after it: no sender sends them again later. */
const INBOX_AFTER_S = 60;
/** The search ends when the trigger is known to this part. */
const PRECISION = 1.2;
/** The part of the ordinary traffic that is handled at the first attempt when the receiver has recovered. */
const RECOVERED = 0.9;
/** A working receiver takes no longer for a delivery. */
const QUEUE_S = 15;
/** Fewer deliveries in a window would be chance. */
const WINDOW_DELIVERIES = 50;
const MIN_WINDOW_S = 5;
const STEPS = 120;

/** The seconds of a run. */
interface Course {
  readonly seconds: readonly Second[];
  /** Deliveries that arise in each second, also those that their sender does not send to a disabled endpoint. */
  readonly arising: Uint32Array;
  /** Those of them that are handled at their first attempt. */
  readonly handled: Uint32Array;
  /** When the trigger ends, and when the run does, in seconds. */
  readonly calmS: number;
  readonly endS: number;
  /** The senders that have disabled the endpoint. */
  readonly switchedOff: readonly string[];
}

/**
 * Searches the smallest trigger after which the receiver without the middleware stays down although only the ordinary
 * traffic arrives: its queue is so long that senders give up before their delivery is handled, and their retries keep it
 * long. Source: Huang et al., "Metastable Failures in the Wild", OSDI 2022.
 *
 * @param hold - the options with which requests are held.
 * @param inbox - simulated if a receiver that holds requests does not recover either.
 * @returns null without ordinary traffic, or with so much that its queue does not drain in a time that can be simulated.
 */
export async function recoveryOf(
  request: Request,
  hold: Configuration,
  inbox: Configuration,
): Promise<Recovery | null> {
  const { normalPerSecond, concurrency, senders } = request;
  const load = normalPerSecond / maxStartsOf(request, concurrency);
  const maxStallS = Math.floor(Math.min(MAX_STALL_S, longestStallS(request, load)));
  if (normalPerSecond === 0 || isOverloaded(request) || !(maxStallS >= 1)) return null;

  const without: Configuration = { mode: 'none', options: {}, concurrency };
  const play = async (
    configuration: Configuration,
    stallS: number,
    burst: number,
    calmForS = afterS(stallS + burst / normalPerSecond, load),
  ): Promise<Course> => {
    const { service, ...others } = scenarioOf(request, configuration);
    const calmS = Math.ceil(BEFORE_S + stallS + (burst > 0 ? 1 : 0));
    const endS = calmS + calmForS;
    const ordinary = { fromS: 0, toS: endS, perSecond: normalPerSecond, process: 'poisson' } as const;
    const extra = { fromS: BEFORE_S, toS: BEFORE_S + 1, perSecond: burst };
    const standStill = stallS > 0 ? [{ fromS: BEFORE_S, toS: BEFORE_S + stallS }] : [];
    const scenario = parseScenario({
      ...others,
      service: { ...service, standStill },
      arrivals: burst > 0 ? [ordinary, extra] : [ordinary],
    });
    const traffic = drawTraffic(scenario);
    const seen = await run(scenario, traffic, MAX_ATTEMPTS, undefined, endS * 1000).catch(
      (error: unknown) => {
        if (error instanceof Unsettled) return undefined;
        throw error;
      },
    );
    const [arising, handled] = [new Uint32Array(endS), new Uint32Array(endS)];
    for (const [i, ms] of traffic.firstMs.entries()) {
      const s = Math.floor(ms / 1000);
      arising[s] = (arising[s] ?? 0) + 1;
      const isHandled = seen?.attempts[i] === 1 && !Number.isNaN(seen.completedMs[i]);
      if (isHandled) handled[s] = (handled[s] ?? 0) + 1;
    }
    const off = senders.filter((_, index) => (seen?.endpoints[index]?.switchedOff ?? 0) > 0);
    const switchedOff = off.map(({ name }) => name);
    return { seconds: seen?.series.seconds ?? [], arising, handled, calmS, endS, switchedOff };
  };
  const windowS = Math.max(MIN_WINDOW_S, Math.ceil(WINDOW_DELIVERIES / normalPerSecond));

  const afterStall = async (s: number): Promise<boolean> =>
    recoveredS(await play(without, s, 0), windowS) === null;
  const afterBurst = async (s: number): Promise<boolean> =>
    recoveredS(await play(without, 0, Math.round(s * normalPerSecond)), windowS) === null;
  const stallS = await smallest(afterStall, maxStallS);
  const burstS = await smallest(afterBurst, maxStallS);
  const shownS = stallS ?? maxStallS;
  const down = await play(without, shownS, 0);
  let mode: Mode = 'hold';
  let ours = await play(hold, shownS, 0);
  if (recoveredS(ours, windowS) === null) {
    mode = 'inbox';
    ours = await play(inbox, shownS, 0, INBOX_AFTER_S);
  }
  const stepS = Math.ceil(down.endS / STEPS);
  return {
    stallS: stallS === null ? null : tenths(stallS),
    burst: burstS === null ? null : Math.round(burstS * normalPerSecond),
    maxStallS,
    mode,
    switchedOff: down.switchedOff,
    recoveredS: { nothing: recoveredS(down, windowS), ours: recoveredS(ours, windowS) },
    stepS,
    load: curve(down, stepS, ({ arrivals, retries }) => arrivals + retries),
    goodput: {
      nothing: curve(down, stepS, ({ completions }) => completions),
      ours: curve(ours, stepS, ({ completions }) => completions),
    },
  };
}

function tenths(value: number): number {
  return Math.round(10 * value) / 10;
}

/** How long a queue needs for the deliveries of a stall, or of a burst that is as long in ordinary traffic. */
function drainS(triggerS: number, load: number): number {
  return (triggerS * load) / (1 - load);
}

function afterS(triggerS: number, load: number): number {
  return Math.ceil(Math.max(MIN_AFTER_S, DRAIN_TIMES * drainS(triggerS, load)));
}

/** The longest stall whose run has not too many deliveries; not a positive number if there is none. */
function longestStallS({ normalPerSecond }: Request, load: number): number {
  const spanS = MAX_DELIVERIES / normalPerSecond - BEFORE_S;
  if (spanS < MIN_AFTER_S) return 0;
  return spanS / (1 + DRAIN_TIMES * drainS(1, load));
}

/** The smallest size from 1 to `most` for which it holds; null if it does not hold for `most`. */
async function smallest(holds: (size: number) => Promise<boolean>, most: number): Promise<number | null> {
  if (!(await holds(most))) return null;
  let [below, above] = [1, most];
  while (above / below > PRECISION) {
    const middle = Math.sqrt(below * above);
    if (await holds(middle)) above = middle;
    else below = middle;
  }
  return above;
}

/**
 * Seconds from the end of the trigger until the ordinary traffic is handled at the first attempt from then on; null: it never
 * is.
 */
function recoveredS({ arising, handled, calmS, endS }: Course, windowS: number): number | null {
  // Later ones may still be in the queue at the end.
  const lastS = endS - QUEUE_S;
  let sinceS = lastS;
  for (let toS = lastS; toS - windowS >= calmS; toS -= windowS) {
    let [done, all] = [0, 0];
    for (let s = toS - windowS; s < toS; s += 1) {
      done += handled[s] ?? 0;
      all += arising[s] ?? 0;
    }
    if (done < RECOVERED * all) break;
    sinceS = toS - windowS;
  }
  if (sinceS === lastS) return null;
  return sinceS - calmS < windowS ? 0 : sinceS - calmS;
}

function curve({ seconds, endS }: Course, stepS: number, of: (second: Second) => number): number[] {
  return Array.from({ length: Math.floor(endS / stepS) }, (_, step) => {
    const part = seconds.slice(step * stepS, (step + 1) * stepS);
    return part.reduce((total, one) => total + of(one), 0) / stepS;
  });
}
