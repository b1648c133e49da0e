import type { SenderProfile } from '@webhook-backpressure/senders';
import { mistake, oneOf, readAll, ScenarioError, type Fields } from '../scenario/fields.ts';
import { isRecognized, profileNamed } from '../scenario/known-senders.ts';
import { ASSUMED_TIMEOUT_MS } from '../scenario/sender.ts';
import { LIMITS } from './limits.ts';
import type { Burst, Mode, PlanRequest } from './plan-request.ts';

/** A valid request, with all defaults. */
export interface Request {
  readonly senders: readonly RequestedSender[];
  readonly normalPerSecond: number;
  readonly burst: Burst | undefined;
  readonly service: { readonly meanMs: number; readonly distribution: 'constant' | 'exponential' };
  readonly concurrency: number;
  readonly mode: Mode | undefined;
  readonly receivers: number;
  readonly capacity: number | undefined;
  readonly maxWaitMs: number | undefined;
  readonly timeoutMs: number;
  readonly seed: number;
}

export interface RequestedSender {
  readonly name: string;
  /** Its part of all deliveries, from 0 to 1. */
  readonly share: number;
  readonly profile: SenderProfile;
  /** Whether the receiver knows the profile. */
  readonly isRecognized: boolean;
}

const DEFAULT_CONCURRENCY = 10;

/** @throws ScenarioError at the first mistake. */
export function readRequest(value: PlanRequest): Request {
  const request = readAll('', value, readFields, 'a request');
  if (request.burst === undefined && request.normalPerSecond === 0) {
    throw new ScenarioError('normalPerSecond or burst must be given: without both, nothing arrives.');
  }
  return request;
}

function readFields(fields: Fields): Request {
  return {
    senders: withParts(fields.list('senders', 1, readSender)),
    normalPerSecond: fields.get('normalPerSecond', LIMITS.perSecond, 0),
    burst: fields.has('burst') ? fields.object('burst', readBurst) : undefined,
    service: fields.object('service', (service) => ({
      meanMs: service.get('meanMs', LIMITS.serviceMs),
      distribution: service.get('distribution', oneOf('constant', 'exponential'), 'exponential'),
    })),
    concurrency: fields.get('concurrency', LIMITS.concurrency, DEFAULT_CONCURRENCY),
    mode: fields.maybe('mode', oneOf('hold', 'inbox')),
    receivers: fields.get('receivers', LIMITS.receivers, 1),
    capacity: fields.maybe('capacity', LIMITS.capacity),
    maxWaitMs: fields.maybe('maxWaitMs', LIMITS.waitMs),
    timeoutMs: fields.get('timeoutMs', LIMITS.waitMs, ASSUMED_TIMEOUT_MS),
    seed: fields.get('seed', LIMITS.seed, 1),
  };
}

function readBurst(fields: Fields): Burst {
  return {
    events: fields.get('events', LIMITS.events),
    seconds: fields.get('seconds', LIMITS.seconds),
  };
}

function readSender(fields: Fields): RequestedSender {
  const given = fields.raw('profile');
  const share = fields.get('share', LIMITS.share, 1);
  const profile = typeof given === 'string' ? profileNamed(given) : given;
  if (!isProfile(profile))
    throw mistake(`${fields.path}.profile`, 'the name of a sender or a profile', given);
  return { name: profile.name, share, profile, isRecognized: isRecognized(profile) };
}

function isProfile(value: unknown): value is SenderProfile {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}

/** Shares as parts of 1. A name may appear once, since results are listed by name. */
function withParts(senders: readonly RequestedSender[]): RequestedSender[] {
  const names = new Set<string>();
  for (const { name } of senders) {
    if (names.has(name))
      throw new ScenarioError(`senders must have different names, but ${name} is repeated.`);
    names.add(name);
  }
  const sum = senders.reduce((total, { share }) => total + share, 0);
  return senders.map((sender) => ({ ...sender, share: sender.share / sum }));
}
