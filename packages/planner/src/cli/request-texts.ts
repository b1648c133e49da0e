import { ScenarioError, type Rule } from '../scenario/fields.ts';
import { LIMITS, type PlanRequest, readArriving } from '../search/request.ts';
import {
  parseBurst,
  parseDuration,
  parseInteger,
  parseRate,
  parseSenders,
  parseService,
  readerOf,
  UsageError,
  within as isWithin,
  wrong,
} from './values.ts';

/** The options of the command line that are a request. The address of a plan on the docs site has the same. */
export const REQUEST_TEXTS: readonly string[] = [
  ...['senders', 'normal', 'burst', 'service', 'concurrency', 'mode', 'receivers'],
  ...['capacity', 'max-wait', 'timeout', 'seed'],
];

/**
 * Reads a request for a plan.
 *
 * @param values - the texts by name of the option. Other names are ignored.
 * @throws UsageError at the first mistake.
 */
export function requestOf(values: ReadonlyMap<string, string>): PlanRequest {
  return checked(parsed(values));
}

function parsed(values: ReadonlyMap<string, string>): PlanRequest {
  const read = readerOf(values);
  const within = <T extends number>(name: string, rule: Rule<number>, value: T | undefined): T | undefined =>
    isWithin(values, name, rule, value);
  const senders = read('senders', parseSenders);
  const service = read('service', parseService);
  if (senders === undefined)
    throw new UsageError(
      '--senders is missing: names with shares, such as --senders shopify:0.7,github:0.3.',
    );
  if (service === undefined)
    throw new UsageError(
      '--service is missing: how long a handler takes on average, such as --service 80ms.',
    );
  const burst = read('burst', parseBurst);
  const normal = read('normal', parseRate);
  if (burst === undefined && (normal ?? 0) === 0)
    throw new UsageError(
      '--burst or --normal is missing: what arrives, such as --burst 50000/40s --normal 5/s.',
    );
  within('burst', LIMITS.events, burst?.events);
  within('burst', LIMITS.seconds, burst?.seconds);
  within('service', LIMITS.serviceMs, service.meanMs);
  const count = (name: 'concurrency' | 'receivers' | 'capacity' | 'seed'): number | undefined =>
    within(name, LIMITS[name], read(name, parseInteger));
  return {
    senders,
    service,
    burst,
    mode: modeOf(values.get('mode')),
    normalPerSecond: within('normal', LIMITS.perSecond, normal),
    concurrency: count('concurrency'),
    receivers: count('receivers'),
    capacity: count('capacity'),
    maxWaitMs: within('max-wait', LIMITS.waitMs, read('max-wait', parseDuration)),
    timeoutMs: within('timeout', LIMITS.waitMs, read('timeout', parseDuration)),
    seed: count('seed'),
  };
}

/** Finds the mistakes that are not in a single value, such as an unknown sender. */
function checked(request: PlanRequest): PlanRequest {
  try {
    readArriving(request);
    return request;
  } catch (error) {
    if (error instanceof ScenarioError) throw new UsageError(error.message);
    throw error;
  }
}

function modeOf(text: string | undefined): 'hold' | 'inbox' | undefined {
  if (text === undefined || text === 'hold' || text === 'inbox') return text;
  throw wrong('--mode', 'hold or inbox', text);
}
