import { checkInteger, checkNames, invalid } from '@webhook-backpressure/base';
import { maxStartsOf } from '@webhook-backpressure/core/extend';
import type { FleetRegistry } from './registry.ts';

/** Options of {@link joinFleet}. */
export interface FleetOptions {
  /** Where the members see each other: `postgresRegistry(pool)`, `redisRegistry(client)`, or your own. */
  readonly registry: FleetRegistry;
  /** What the members share, such as the name of a database: from 1 to 200 characters. */
  readonly resource: string;
  /**
   * How many deliveries all members together handle concurrently. Integer ≥ 1, best at least 4 for each member. If
   * members have different values, as during a deployment, the smallest applies.
   */
  readonly concurrency: number;
  /**
   * How many deliveries all members together start per second. Number from 0.001 to 1,000,000. Default none: the option
   * `maxStartsPerSecond` of each intake stays. Each member gets the part that its share is of `concurrency`.
   */
  readonly maxStartsPerSecond?: number | undefined;
  /**
   * How many members there usually are: integer ≥ 1, default 4. Until the registry has answered for the first time, the
   * member has `concurrency` ÷ `instances`.
   */
  readonly instances?: number | undefined;
}

/** Validated options. */
export interface FleetSettings extends FleetOptions {
  readonly instances: number;
}

const NAMES = ['registry', 'resource', 'concurrency', 'maxStartsPerSecond', 'instances'];
/** Without control characters, which PostgreSQL may not store. */
const RESOURCE = /^\P{Cc}{1,200}$/u;
const DEFAULT_INSTANCES = 4;

/** @throws BackpressureError with the code of the first invalid option. */
export function checkFleetOptions(options: FleetOptions): FleetSettings {
  checkNames(options, 'joinFleet()', NAMES);
  const { registry, resource, concurrency, maxStartsPerSecond, instances = DEFAULT_INSTANCES } = options;
  if (typeof (registry as Partial<FleetRegistry> | undefined)?.beat !== 'function')
    throw invalid('ERR_WBP_FLEET', 'registry', 'a registry, such as postgresRegistry(pool)', registry);
  if (typeof resource !== 'string' || !RESOURCE.test(resource))
    throw invalid('ERR_WBP_FLEET', 'resource', 'a name of 1 to 200 characters', resource);
  checkInteger('ERR_WBP_CONCURRENCY', 'concurrency', concurrency, 1);
  if (typeof maxStartsPerSecond === 'object')
    throw invalid(
      'ERR_WBP_MAX_STARTS_PER_SECOND',
      'maxStartsPerSecond of a fleet',
      'a number of starts per second',
      maxStartsPerSecond,
    );
  if (maxStartsPerSecond !== undefined) maxStartsOf(maxStartsPerSecond, 'maxStartsPerSecond');
  checkInteger('ERR_WBP_FLEET', 'instances', instances, 1);
  return { registry, resource, concurrency, maxStartsPerSecond, instances };
}
