import { percentile, thousandths } from '../base/numbers.ts';
import { run } from '../runs/run.ts';
import type { ScenarioInput, SenderInput } from '../scenario/scenario-input.ts';
import { type Scenario, parseScenario } from '../scenario/scenario.ts';
import type { Observations } from '../senders/observations.ts';
import { type Traffic, drawTraffic } from '../traffic/traffic.ts';
import { type PlannedMode, type Configuration, identityOf, type Figures, type Outcome } from './plan.ts';
import { type Request, type RequestedSender, arrivalsOf, burstInterval } from './request.ts';

/**
 * By this a process grows for a request that waits with its connection in front of node:http, besides its body. Measured
 * by test/simulation/src/memory-cli.ts, on Node 20.20 and Linux, 2026-11-22. For a delivery that an inbox has stored in a
 * file, the file grows by 1.2 kB besides the body, and the process does not.
 */
const HELD_BYTES = 22_000;

/** The input and the observations of a run. */
export interface Played {
  readonly scenario: Scenario;
  readonly traffic: Traffic;
  readonly seen: Observations;
}

/** Collects the figures of a group of deliveries. */
class Group {
  events = 0;
  lost = 0;
  attempts = 0;
  readonly #delaysMs: number[] = [];

  add(attempts: number, delayMs: number): void {
    this.events += 1;
    this.attempts += attempts;
    if (Number.isNaN(delayMs)) this.lost += 1;
    else this.#delaysMs.push(delayMs);
  }

  figures(): Figures {
    const sorted = Float64Array.from(this.#delaysMs).sort();
    return {
      events: this.events,
      lost: this.lost,
      attemptsPerEvent: this.events === 0 ? 0 : thousandths(this.attempts / this.events),
      delayS: { p50: secondsOf(percentile(sorted, 0.5)), p99: secondsOf(percentile(sorted, 0.99)) },
    };
  }
}

/** @param burst - when it arrives. */
function outcomeOf(
  { scenario, traffic, seen }: Played,
  mode: PlannedMode,
  burst: { readonly fromS: number; readonly toS: number },
): Outcome {
  const all = new Group();
  const groups = scenario.senders.map(() => new Group());
  let lastMs = -Infinity;
  for (let i = 0; i < traffic.count; i += 1) {
    const attempts = seen.attempts[i] as number;
    const completedMs = seen.completedMs[i] as number;
    const firstMs = traffic.firstMs[i] as number;
    if (firstMs < 1000 * burst.toS && completedMs >= lastMs) lastMs = completedMs;
    const delayMs = completedMs - firstMs;
    all.add(attempts, delayMs);
    groups[traffic.sender[i] as number]?.add(attempts, delayMs);
  }
  return {
    ...all.figures(),
    senders: groups.map((group, index) => ({
      name: scenario.senders[index]?.key ?? '',
      ...group.figures(),
      switchedOff: (seen.endpoints[index]?.switchedOff ?? 0) > 0,
    })),
    burstDoneS: lastMs === -Infinity ? null : secondsOf(Math.max(0, lastMs - 1000 * burst.fromS)),
    maxDepth: seen.maxDepth,
    memoryBytes: mode === 'inbox' ? 0 : seen.maxDepth * HELD_BYTES,
  };
}

function secondsOf(ms: number): number | null {
  return Number.isNaN(ms) ? null : thousandths(ms / 1000);
}

/**
 * How long a durable store takes for a commit. It makes one at a time, as `sqliteStore` does: deliveries that arrive
 * together share one, and each worker waits for that of its claim and that of its outcome.
 */
export const COMMIT_MS = 5;

/** The scenario that plays a request with a configuration, as plain JSON. */
export function scenarioOf(request: Request, configuration: Configuration): ScenarioInput {
  const { service, seed, senders, receivers } = request;
  return {
    seed,
    service,
    ...receiverOf(configuration),
    ...(receivers > 1 && configuration.mode === 'hold' ? { fleet: { receivers } } : {}),
    arrivals: arrivalsOf(request).map((arrival) => ({ ...arrival, process: 'poisson' })),
    senders: senders.map((sender) => senderOf(sender, request.timeoutMs)),
  };
}

/** A configuration, as a scenario has it. */
export function receiverOf({
  mode,
  options,
  concurrency,
}: Configuration): Pick<ScenarioInput, 'mode' | 'policy' | 'intake' | 'inbox'> {
  switch (mode) {
    case 'none':
      return { policy: 'unbounded', intake: { concurrency } };
    case 'hold':
      return { intake: { ...options, concurrency } };
    case 'inbox':
      return { mode: 'inbox', inbox: { ...options, concurrency, commitMs: COMMIT_MS } };
  }
}

/** A sender of a request, as a scenario has it. */
export function senderOf(
  { name, share, profile, isRecognized }: RequestedSender,
  timeoutMs: number,
): SenderInput {
  return {
    key: name,
    share,
    profile,
    recognized: isRecognized,
    identified: isRecognized,
    timeoutMs: profile.timeoutMs ?? timeoutMs,
  };
}

/** A simulated configuration. */
export interface Trial {
  readonly configuration: Configuration;
  readonly outcome: Outcome;
  readonly played: Played;
}

/** Settings of `plan`. */
export interface PlanSettings {
  /** Called before each simulation, with its number from 1. */
  readonly onRun?: ((configuration: Configuration, run: number) => void) | undefined;
  /** Called after each simulation, with its figures. */
  readonly onOutcome?: ((configuration: Configuration, outcome: Outcome) => void) | undefined;
}

/** More requests than this in one run: its senders retry against a receiver that hardly accepts any. */
const MAX_ATTEMPTS = 50_000_000;

/** Simulates configurations with the same deliveries, each once, within a budget of simulated requests. */
export class Trials {
  readonly all: Trial[] = [];
  readonly #request: Request;
  readonly #settings: PlanSettings;
  readonly #known = new Map<string, Trial>();
  #traffic: Traffic | undefined;
  #requestsLeft: number;

  constructor(request: Request, settings: PlanSettings, requests: number) {
    this.#request = request;
    this.#settings = settings;
    this.#requestsLeft = requests;
  }

  /** Whether the budget allows another simulation. */
  get mayContinue(): boolean {
    return this.#requestsLeft > 0;
  }

  async of(configuration: Configuration): Promise<Trial> {
    const identity = identityOf(configuration);
    const known = this.#known.get(identity);
    if (known !== undefined) return known;
    this.#settings.onRun?.(configuration, this.all.length + 1);
    const scenario = parseScenario(scenarioOf(this.#request, configuration));
    const traffic = (this.#traffic ??= drawTraffic(scenario));
    const seen = await run(scenario, traffic, MAX_ATTEMPTS);
    const played = { scenario, traffic, seen };
    const outcome = outcomeOf(played, configuration.mode, burstInterval(this.#request));
    this.#requestsLeft -= outcome.events * outcome.attemptsPerEvent;
    const trial = { configuration, outcome, played };
    this.#known.set(identity, trial);
    this.all.push(trial);
    this.#settings.onOutcome?.(configuration, outcome);
    return trial;
  }
}
