import type { EndpointSettings } from '../options/settings.ts';
import type { Parcel } from './attempt.ts';
import type { Claim } from './claim.ts';

/** The requests of claimed events, in order. */
export function parcelsOf(claims: readonly Claim[], _settings: EndpointSettings): readonly Parcel[] {
  return claims.map((claim) => ({ id: claim.ref.id, claims: [claim], isBatch: false }));
}
