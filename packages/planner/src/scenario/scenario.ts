import { BackpressureError } from '@webhook-backpressure/base';
import { createIntake } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import {
  aBoolean,
  aCount,
  aNumber,
  aPositive,
  aString,
  DAY_MS,
  mistake,
  oneOf,
  readAll,
  ScenarioError,
  type Fields,
  type Rule,
} from './fields.ts';
import { readInbox, type ScenarioInbox } from './inbox.ts';
import { parsePolicy, type Policy } from './policy.ts';
import type { FleetInput, Interval, ScenarioInput, ServiceInput } from './scenario-input.ts';
import { readSender, type Sender } from './sender.ts';

/** A parsed and valid scenario. Names end with their units. */
export interface Scenario {
  readonly seed: number;
  /** With an inbox: the concurrency and the drain rate of its workers. */
  readonly intake: ScenarioIntake;
  /** Undefined: hold mode, in which the sender waits for the handler. */
  readonly inbox: ScenarioInbox | undefined;
  readonly policy: Policy;
  readonly service: Service;
  /** Undefined: the process of the receiver takes no time. */
  readonly process: Process | undefined;
  /** Undefined: one receiver. */
  readonly fleet: Fleet | undefined;
  readonly arrivals: readonly Arrivals[];
  readonly senders: readonly Sender[];
  /** By how much the senders wait less than they say. Default 1. */
  readonly speed?: number;
}

/** The options of the intake, except those that the simulator sets. */
type ScenarioIntake = NonNullable<ScenarioInput['intake']>;
export type Service = ServiceInput & Required<Pick<ServiceInput, 'distribution'>>;
export type Process = Required<NonNullable<ScenarioInput['process']>>;
export type Fleet = Required<FleetInput>;
export type Arrivals = Required<ScenarioInput['arrivals'][number]>;

/** More deliveries do not fit into the memory of an ordinary machine. */
export const MAX_DELIVERIES = 2_000_000;
const MAX_S = 10_000_000;

const aSecond = aNumber(`a number of seconds from 0 to ${String(MAX_S)}`, (s) => s >= 0 && s <= MAX_S);
const aServiceTime = aNumber(
  `a number of milliseconds above 0, at most ${String(DAY_MS)}`,
  (ms) => ms > 0 && ms <= DAY_MS,
);
const aCost = aNumber('a number of milliseconds from 0 to 1000', (ms) => ms >= 0 && ms <= 1000);
const aFactor = aNumber('a number from 1 to 1000', (value) => value >= 1 && value <= 1000);
const aFleetSize = aNumber(
  'an integer from 1 to 64',
  (value) => Number.isSafeInteger(value) && value >= 1 && value <= 64,
);
const aConcurrency = aNumber('a number of at least 1', (value) => value >= 1);

/**
 * Reads a scenario from parsed JSON.
 *
 * @throws ScenarioError at the first mistake.
 */
export function parseScenario(value: unknown): Scenario {
  const scenario = readAll('', value, (fields) => ({
    seed: fields.get('seed', aCount, 1),
    ...readReceiver(fields),
    policy: parsePolicy('policy', fields.get('policy', aString, 'intake')),
    service: fields.object('service', readService),
    process: fields.has('process') ? fields.object('process', readProcess) : undefined,
    fleet: fields.has('fleet') ? fields.object('fleet', readFleet) : undefined,
    arrivals: fields.list('arrivals', 1, readArrivals),
    senders: fields.list('senders', 1, readSender),
  }));
  const deliveries = Math.round(
    scenario.arrivals.reduce((sum, { fromS, toS, perSecond }) => sum + (toS - fromS) * perSecond, 0),
  );
  if (scenario.inbox !== undefined) checkInboxScenario(scenario);
  if (scenario.fleet !== undefined) checkFleet(scenario);
  if (deliveries > MAX_DELIVERIES) {
    throw mistake('arrivals', `at most ${String(MAX_DELIVERIES)} deliveries in all`, deliveries);
  }
  return scenario;
}

function readReceiver(fields: Fields): Pick<Scenario, 'intake' | 'inbox'> {
  const hasInbox = fields.get('mode', oneOf('hold', 'inbox'), 'hold') === 'inbox';
  const other = hasInbox ? 'intake' : 'inbox';
  if (fields.has(other)) {
    const mode = hasInbox ? 'inbox' : 'hold';
    throw new ScenarioError(
      `${other} must be absent in mode "${mode}": its options are those of ${mode === 'inbox' ? 'inbox' : 'intake'}.`,
    );
  }
  if (!hasInbox)
    return { intake: readIntake(fields.has('intake') ? fields.raw('intake') : {}), inbox: undefined };
  const inbox = fields.has('inbox') ? fields.object('inbox', readInbox) : { options: {}, commitMs: 0 };
  const { concurrency, maxStartsPerSecond } = inbox.options;
  return { intake: { concurrency, maxStartsPerSecond }, inbox };
}

function readIntake(value: unknown): ScenarioIntake {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw mistake('intake', 'an object', value);
  }
  for (const name of ['clock', 'random']) {
    if (name in value) throw new ScenarioError(`intake.${name} must be absent: the simulator sets it.`);
  }
  // The intake itself validates its options.
  try {
    createIntake(Object.assign({ clock: manualClock() }, value));
  } catch (error) {
    if (!(error instanceof BackpressureError)) throw error;
    throw new ScenarioError(inIntake(error.message));
  }
  return value;
}

/** Rewrites a message about an option, which may begin with its name, as a message about a field of the scenario. */
function inIntake(message: string): string {
  return /^[a-z]/.test(message) ? `intake.${message}` : `intake: ${message}`;
}

function readService(fields: Fields): Service {
  return {
    meanMs: fields.get('meanMs', aServiceTime),
    distribution: fields.get('distribution', oneOf('constant', 'exponential'), 'constant'),
    standStill: fields.list('standStill', 0, readInterval),
    slow: fields.list('slow', 0, (entry) => ({
      ...readInterval(entry),
      factor: entry.get('factor', aFactor),
    })),
    knee: fields.list('knee', 0, (entry) => ({
      fromS: entry.get('fromS', aSecond),
      concurrency: entry.get('concurrency', aConcurrency),
    })),
  };
}

function readProcess(fields: Fields): Process {
  return {
    acceptMs: fields.get('acceptMs', aCost, 0),
    refuseMs: fields.get('refuseMs', aCost, 0),
    handleMs: fields.get('handleMs', aCost, 0),
    freeze: fields.list('freeze', 0, readInterval),
  };
}

/** The run with an inbox has one receiver whose process takes no time, and its deliveries have no priority. */
function checkInboxScenario({ policy, process, fleet, senders }: Scenario): void {
  const because = 'because an inbox is simulated without it';
  if (process !== undefined) throw new ScenarioError(`process must be absent in mode "inbox", ${because}.`);
  if (fleet !== undefined) throw new ScenarioError(`fleet must be absent in mode "inbox", ${because}.`);
  if (policy.name !== 'intake') throw mistake('policy', '"intake" in mode "inbox"', policy.name);
  for (const [index, { delivery }] of senders.entries()) {
    if (delivery.priority === undefined) continue;
    const path = `senders[${String(index)}].delivery.priority`;
    throw mistake(path, 'absent in mode "inbox", whose deliveries have none', delivery.priority);
  }
}

/** The run with several receivers has neither a process nor a plain queue, and its receivers share plain limits. */
function checkFleet({ process, policy, senders, intake, fleet }: Scenario): void {
  const because = 'because several receivers are simulated without it';
  if (process !== undefined) throw new ScenarioError(`process must be absent beside fleet, ${because}.`);
  if (policy.queue !== undefined)
    throw mistake('policy', `another one beside fleet, ${because}`, policy.name);
  for (const [index, { timeoutMs, profile }] of senders.entries()) {
    // With a profile the timeout is known, and the intake keeps its deliveries from being queued for that long.
    if (timeoutMs > 0 && profile === undefined)
      throw mistake(`senders[${String(index)}].timeoutMs`, `0 beside fleet, ${because}`, timeoutMs);
  }
  for (const name of ['concurrency', 'maxStartsPerSecond'] as const) {
    if (typeof intake[name] === 'object')
      throw mistake(`intake.${name}`, 'a number beside fleet', intake[name]);
  }
  let living = fleet?.receivers ?? 0;
  for (const { what } of (fleet?.changes ?? []).toSorted((a, b) => a.atS - b.atS)) {
    living += what === 'join' ? 1 : -1;
    if (living === 0) throw mistake('fleet.changes', 'changes that leave a living receiver', fleet?.changes);
  }
}

function readFleet(fields: Fields): Fleet {
  return {
    receivers: fields.get('receivers', aFleetSize),
    balancer: fields.get('balancer', oneOf('random', 'round-robin', 'least-connections', 'hash'), 'random'),
    registry: fields.get('registry', aBoolean, true),
    registryAway: fields.list('registryAway', 0, readInterval),
    changes: fields.list('changes', 0, (entry) => ({
      atS: entry.get('atS', aSecond),
      what: entry.get('what', oneOf('join', 'die')),
    })),
  };
}

function readInterval(fields: Fields): Interval {
  const fromS = fields.get('fromS', aSecond);
  return { fromS, toS: fields.get('toS', laterThan(fromS)) };
}

function readArrivals(fields: Fields): Arrivals {
  return {
    ...readInterval(fields),
    perSecond: fields.get('perSecond', aPositive),
    process: fields.get('process', oneOf('uniform', 'poisson'), 'uniform'),
  };
}

function laterThan(fromS: number): Rule<number> {
  return aNumber(
    `a number of seconds after fromS (${String(fromS)}), at most ${String(MAX_S)}`,
    (s) => s > fromS && s <= MAX_S,
  );
}
