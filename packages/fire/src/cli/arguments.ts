import { parseArgs } from 'node:util';
import {
  LIMITS,
  parseBurst,
  parseDuration,
  parseInteger,
  parseRate,
  parseSenders,
  parseService,
  readerOf,
  split,
  UsageError,
  within,
  wrong,
} from '@webhook-backpressure/planner/parts';
import type { Limits } from '../report/report.ts';
import type { Shot } from '../run/scenario.ts';

/** A burst that was asked for. */
export interface FireCommand {
  readonly name: 'fire';
  readonly url: string;
  /** The host of a public endpoint that the user owns. */
  readonly ownHost: string | undefined;
  readonly shot: Shot;
  /** By name of the sender; '' for all others. */
  readonly secrets: ReadonlyMap<string, string>;
  /** No attempt starts later than this after the beginning, on the real clock. */
  readonly endMs: number;
  readonly limits: Limits;
  readonly isJson: boolean;
  /** The file of the JUnit report; undefined for none. */
  readonly junit: string | undefined;
}

/** A parsed command line. */
export type Command =
  | { readonly name: 'help' | 'version' }
  | { readonly name: 'listen'; readonly port: number; readonly isJson: boolean }
  | FireCommand;

const TEXTS = [
  ...['as', 'secret', 'burst', 'normal', 'speed', 'for', 'service', 'concurrency'],
  ...['max-lost', 'max-p99', 'junit', 'i-own'],
];
const FLAGS = ['json', 'listen', 'help', 'version'];

/** To an endpoint on the internet: enough to see how it answers, too few to bring it down by mistake. */
const OWN_EVENTS = 100_000;
export const OWN_PER_SECOND = 1000;
const MAX_SPEED = 1_000_000;
const DEFAULT_CONCURRENCY = 10;

/**
 * Parses the arguments after the name of the program.
 *
 * @param seed - of the random numbers of the run.
 * @throws UsageError at the first mistake.
 */
export function parseCommand(args: readonly string[], seed: number): Command {
  if (args.length === 0 || args.includes('--help') || args.includes('-h')) return { name: 'help' };
  const { values, positionals } = split(parseArgs, args, TEXTS, FLAGS);
  if (values.has('version')) return { name: 'version' };
  if (values.has('listen')) return listenCommand(values, positionals);
  const [url, ...rest] = positionals;
  if (url === undefined) throw new UsageError('The URL of the endpoint is missing.');
  if (rest.length > 0)
    throw new UsageError(`There must be one URL, but also ${JSON.stringify(rest[0])} was given.`);
  return fireCommand(url, values, seed);
}

function listenCommand(values: ReadonlyMap<string, string>, positionals: readonly string[]): Command {
  const other = [...values.keys()].find((name) => name !== 'listen' && name !== 'json');
  if (other !== undefined) throw new UsageError(`--listen cannot be combined with --${other}.`);
  const [text = '0', ...rest] = positionals;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (rest.length > 0 || !(port <= 65_535))
    throw wrong('--listen', 'a port from 0 to 65535', positionals.join(' '));
  return { name: 'listen', port, isJson: values.has('json') };
}

function fireCommand(url: string, values: ReadonlyMap<string, string>, seed: number): FireCommand {
  const read = readerOf(values);
  const senders = read('as', parseSenders);
  if (senders === undefined)
    throw new UsageError(
      '--as is missing: names of senders with shares, such as --as stripe:0.5,github:0.5.',
    );
  const burst = read('burst', parseBurst);
  within(values, 'burst', LIMITS.events, burst?.events);
  within(values, 'burst', LIMITS.seconds, burst?.seconds);
  const normalPerSecond = within(values, 'normal', LIMITS.perSecond, read('normal', parseRate));
  const forMs = within(values, 'for', LIMITS.waitMs, read('for', parseDuration));
  if (burst === undefined && (normalPerSecond ?? 0) === 0)
    throw new UsageError(
      '--burst or --normal is missing: what is sent, such as --burst 2000/5s --normal 5/s.',
    );
  if (burst === undefined && forMs === undefined)
    throw new UsageError('--for is missing: how long --normal is sent, such as --for 1min.');
  const speed = read('speed', parseSpeed) ?? 1;
  const service = read('service', parseService);
  within(values, 'service', LIMITS.serviceMs, service?.meanMs);
  const concurrency = within(values, 'concurrency', LIMITS.concurrency, read('concurrency', parseInteger));
  if (concurrency !== undefined && service === undefined)
    throw new UsageError('--concurrency needs --service: both are for the prediction.');
  const normalS = forMs === undefined ? (burst?.seconds ?? 0) : forMs / 1000;
  const ownHost = values.get('i-own');
  const perSecond =
    ((burst === undefined ? 0 : burst.events / burst.seconds) + (normalPerSecond ?? 0)) * speed;
  const events = (burst?.events ?? 0) + (normalPerSecond ?? 0) * normalS;
  if (ownHost !== undefined && (events > OWN_EVENTS || perSecond > OWN_PER_SECOND))
    throw new UsageError(
      `--i-own allows ${String(OWN_EVENTS)} deliveries and ${String(OWN_PER_SECOND)} a second, but these are ${String(Math.round(events))} and ${String(Math.round(perSecond))} a second.`,
    );
  return {
    name: 'fire',
    url,
    ownHost,
    shot: {
      senders,
      burst,
      normalPerSecond,
      normalS,
      speed,
      service,
      concurrency: concurrency ?? DEFAULT_CONCURRENCY,
      seed,
    },
    secrets: secretsIn(
      values.get('secret'),
      senders.map(({ profile }) => profile),
    ),
    endMs: forMs === undefined ? Infinity : forMs / speed,
    limits: { maxLost: read('max-lost', parseInteger), maxP99Ms: read('max-p99', parseDuration) },
    isJson: values.has('json'),
    junit: values.get('junit'),
  };
}

function parseSpeed(option: string, text: string): number {
  const speed = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (!(speed >= 1 && speed <= MAX_SPEED))
    throw wrong(option, `a number from 1 to ${String(MAX_SPEED)}`, text);
  return speed;
}

/** Parses one secret for all senders, or `stripe=whsec_…,github=…`. A secret may contain commas and equals signs. */
function secretsIn(text: string | undefined, names: readonly string[]): ReadonlyMap<string, string> {
  if (text === undefined) return new Map();
  if (text.trim() === '') throw new UsageError('--secret must not be blank. Has the variable a value?');
  const start = new RegExp(`(?:^|,)(${names.join('|')})=`);
  const [all = '', ...pairs] = text.split(start);
  const secrets = new Map(all === '' ? [] : [['', all]]);
  for (let at = 0; at < pairs.length; at += 2) secrets.set(pairs[at] ?? '', pairs[at + 1] ?? '');
  return secrets;
}
