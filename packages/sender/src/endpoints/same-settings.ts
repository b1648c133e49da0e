import type { EndpointSettings } from '../options/settings.ts';

/** Whether two settings of an endpoint are the same, so that nothing has to be adjusted. */
export function areSame(one: EndpointSettings, other: EndpointSettings): boolean {
  return (
    one.url.href === other.url.href &&
    one.maxInFlight === other.maxInFlight &&
    one.isOrdered === other.isOrdered &&
    one.secrets.length === other.secrets.length &&
    one.secrets.every((secret, at) => secret === other.secrets[at]) &&
    one.limit.amount === other.limit.amount &&
    one.limit.periodMs === other.limit.periodMs &&
    one.limit.burst === other.limit.burst &&
    one.batch?.maxEvents === other.batch?.maxEvents &&
    one.batch?.maxDelayMs === other.batch?.maxDelayMs &&
    one.batch?.maxBytes === other.batch?.maxBytes
  );
}
