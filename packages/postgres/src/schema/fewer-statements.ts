import { claimInTurn } from './claim.ts';
import { settle } from './settlements.ts';

/** Claims and settlements with fewer statements. What they do, and for whom, is as before. */
export const fewerStatements = (s: string): string => `${claimInTurn(s)}${settle(s)}
-- Their plans are the same whatever the values: making them again takes as long as claiming 50 deliveries.
ALTER FUNCTION ${s}.claim_v1 SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION ${s}.settle_v2 SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION ${s}.add_totals_v1 SET plan_cache_mode = force_generic_plan;
`;
