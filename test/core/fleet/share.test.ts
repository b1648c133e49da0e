import { describe, expect, it } from 'vitest';
import { Share } from '../../../packages/fleet/src/shares.ts';
import { seeded } from '../harness.ts';

const STEPS = 20_000;

/** A member whose beats are answered some time after the registry has run them. */
class Grower {
  readonly share: Share;
  /** What the registry knows. */
  claim: number;
  /** What the others had claimed when the registry ran the beat that is not answered yet. */
  taken: number | undefined;

  constructor(initial: number) {
    this.share = new Share(initial);
    this.claim = initial;
  }
}

describe('Share', () => {
  it('never lets the sum exceed the limit, whatever the targets are and however long answers take', () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const random = seeded(seed);
      const below = (end: number): number => Math.floor(random() * end);
      const limit = 8 + below(60);
      const members = Array.from({ length: 2 + below(6) }, () => new Grower(1));
      let most = 0;
      for (let step = 0; step < STEPS; step += 1) {
        const member = members[below(members.length)] as Grower;
        const { share } = member;
        if (member.taken === undefined) {
          share.aim(1 + below(limit));
          member.claim = share.claim;
          member.taken = members.reduce((sum, { claim }) => sum + claim, -member.claim);
        } else {
          share.settle(1 + below(limit), limit - member.taken);
          member.taken = undefined;
        }
        most = Math.max(
          most,
          members.reduce((sum, one) => sum + one.share.held, 0),
        );
      }
      expect(most).toBeLessThanOrEqual(limit);
      expect(most).toBeGreaterThan(limit / 2);
    }
  });
});
