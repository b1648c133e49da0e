import type { Request } from '../request/read-request.ts';
import { run } from '../runs/run.ts';
import { parseScenario } from '../scenario/scenario.ts';
import { drawTraffic, type Traffic } from '../traffic/traffic.ts';
import { burstInterval } from './arrivals.ts';
import { identityOf, type Configuration } from './configuration.ts';
import { outcomeOf, type Outcome, type Played } from './outcome.ts';
import { scenarioOf } from './scenario-of.ts';

/** A simulated configuration. */
export interface Trial {
  readonly configuration: Configuration;
  readonly outcome: Outcome;
  readonly played: Played;
}

/** Called before each simulation, with its number from 1. */
export type Progress = (configuration: Configuration, run: number) => void;

/** More requests than this in one run: its senders retry against a receiver that hardly accepts any. */
const MAX_ATTEMPTS = 50_000_000;

/** Simulates configurations with the same deliveries, each once, within a budget of simulated requests. */
export class Trials {
  readonly all: Trial[] = [];
  readonly #request: Request;
  readonly #progress: Progress;
  readonly #known = new Map<string, Trial>();
  #traffic: Traffic | undefined;
  #requestsLeft: number;

  constructor(request: Request, progress: Progress, requests: number) {
    this.#request = request;
    this.#progress = progress;
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
    this.#progress(configuration, this.all.length + 1);
    const scenario = parseScenario(scenarioOf(this.#request, configuration));
    const traffic = (this.#traffic ??= drawTraffic(scenario));
    const seen = await run(scenario, traffic, MAX_ATTEMPTS);
    const played = { scenario, traffic, seen };
    const outcome = outcomeOf(played, configuration.mode, burstInterval(this.#request));
    this.#requestsLeft -= outcome.events * outcome.attemptsPerEvent;
    const trial = { configuration, outcome, played };
    this.#known.set(identity, trial);
    this.all.push(trial);
    return trial;
  }
}
