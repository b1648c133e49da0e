import type { Delivery } from './delivery.ts';

/**
 * On which ground a delivery may start out of turn: its sender never retries, as its headers claim (`claimed`) or as the
 * user vouches (`authentic`).
 */
export type Favor = 'none' | 'claimed' | 'authentic';

export function favorOf({ retries, authentic }: Delivery): Favor {
  if (retries !== false) return 'none';
  return authentic === true ? 'authentic' : 'claimed';
}
