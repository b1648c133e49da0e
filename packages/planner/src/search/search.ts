import type { Request } from '../request/read-request.ts';
import type { Configuration, PlannedOptions } from './configuration.ts';
import { holdDimensions, inboxDimensions, type Dimension } from './options-to-try.ts';
import { isBetter, losesNothing, refusesNothing } from './ranking.ts';
import type { Trial, Trials } from './trials.ts';

/** What the search found. */
export interface Found {
  readonly nothing: Trial;
  readonly defaults: Trial;
  readonly bestHold: Trial;
  readonly bestInbox: Trial;
  readonly recommended: Trial;
  /** With the least concurrency that was tried and with which holding requests loses nothing, if holding loses any. */
  readonly enough: Trial | undefined;
}

/** Higher concurrency that is tried if holding requests loses deliveries. */
const FACTORS = [2, 4, 8];

/**
 * Searches the options: from the defaults, one option after the other, each time keeping the best value. It ends when the
 * budget of the trials is used up.
 */
export async function search(request: Request, trials: Trials): Promise<Found> {
  const given: PlannedOptions = {
    ...(request.capacity === undefined ? {} : { capacity: request.capacity }),
    ...(request.maxWaitMs === undefined ? {} : { maxWaitMs: request.maxWaitMs }),
  };
  const { concurrency, mode } = request;
  const nothing = await trials.of({ mode: 'none', options: {}, concurrency });
  const hold = await trials.of({ mode: 'hold', options: given, concurrency });
  const inbox = await trials.of({ mode: 'inbox', options: given, concurrency });

  const bestHold = mode === 'inbox' ? hold : await improve(hold, holdDimensions(request), trials);
  const isInboxSearched = mode === 'inbox' || (mode === undefined && !losesNothing(bestHold.outcome));
  const bestInbox = isInboxSearched ? await improve(inbox, inboxDimensions(request), trials) : inbox;
  const recommended = choose(mode, bestHold, bestInbox);
  return {
    nothing,
    defaults: mode === 'inbox' ? inbox : hold,
    ...{ bestHold, bestInbox, recommended },
    enough: losesNothing(bestHold.outcome)
      ? undefined
      : await enoughConcurrency(bestHold.configuration, trials),
  };
}

/** Holding requests needs no store, so it is recommended unless the inbox loses less. */
function choose(mode: Request['mode'], hold: Trial, inbox: Trial): Trial {
  if (mode !== undefined) return mode === 'hold' ? hold : inbox;
  if (losesNothing(hold.outcome)) return hold;
  return isBetter(inbox, hold) ? inbox : hold;
}

/** Keeps the best value of one option after the other. A configuration that refuses nothing needs no other options. */
async function improve(start: Trial, dimensions: readonly Dimension[], trials: Trials): Promise<Trial> {
  let best = start;
  if (refusesNothing(start.outcome)) return best;
  for (const dimension of dimensions) {
    const base = best.configuration;
    for (const options of dimension(base.options)) {
      if (!trials.mayContinue) return best;
      const trial = await trials.of({ ...base, options: { ...base.options, ...options } });
      if (isBetter(trial, best)) best = trial;
    }
  }
  return best;
}

async function enoughConcurrency(configuration: Configuration, trials: Trials): Promise<Trial | undefined> {
  for (const factor of FACTORS) {
    if (!trials.mayContinue) return undefined;
    const trial = await trials.of({ ...configuration, concurrency: factor * configuration.concurrency });
    if (losesNothing(trial.outcome)) return trial;
  }
  return undefined;
}
