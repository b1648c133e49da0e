import { unknownName } from '@webhook-backpressure/base';
import { ScenarioError, type Rule } from '../scenario/fields.ts';
import {
  parseBurst,
  parseDuration,
  parseInteger,
  parseRate,
  parseSenders,
  parseService,
  readerOf,
  split,
  UsageError,
  within as isWithin,
  wrong,
} from './values.ts';
import { LIMITS, type PlanRequest, readArriving } from '../search/request.ts';

/** A parsed command line. */
export type Command =
  | { readonly name: 'help' | 'version' }
  | { readonly name: 'simulate'; readonly file: string }
  | {
      readonly name: 'plan';
      readonly request: PlanRequest;
      readonly isJson: boolean;
      /** The file of the page; undefined for none. */
      readonly html: string | undefined;
    };

const TEXTS = [
  ...['senders', 'normal', 'burst', 'service', 'concurrency', 'mode', 'receivers'],
  ...['capacity', 'max-wait', 'timeout', 'seed', 'html'],
];
const FLAGS = ['json', 'help', 'version'];
const SIMULATE = 'simulate';

/**
 * Parses the arguments after the name of the program.
 *
 * @throws UsageError at the first mistake.
 */
export function parseCommand(args: readonly string[]): Command {
  if (args.length === 0 || args.includes('--help') || args.includes('-h')) return { name: 'help' };
  const { values, positionals } = split(args, TEXTS, FLAGS);
  if (values.has('version')) return { name: 'version' };
  const [first, ...rest] = positionals;
  if (first === SIMULATE) return { name: 'simulate', file: fileOf(rest, values) };
  if (first !== undefined) throw new UsageError(unknownName('command', first, 'options', [SIMULATE]));
  return {
    name: 'plan',
    request: checked(requestOf(values)),
    isJson: values.has('json'),
    html: values.get('html'),
  };
}

function fileOf(rest: readonly string[], values: ReadonlyMap<string, string>): string {
  const [file] = rest;
  if (file === undefined || rest.length > 1)
    throw new UsageError('simulate needs one file with a scenario, or - for standard input.');
  const [option] = values.keys();
  if (option !== undefined) throw new UsageError(`simulate does not take --${option}.`);
  return file;
}

function requestOf(values: ReadonlyMap<string, string>): PlanRequest {
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
