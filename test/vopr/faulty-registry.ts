import type { FleetRegistry } from '@webhook-backpressure/fleet';
import type { CallFault } from './plan.ts';
import type { Process, World } from './world.ts';

/** What goes wrong with the beats of a member. */
interface RegistryTroubles {
  /** How a beat goes wrong, by its number. */
  faultOf(call: number): CallFault | undefined;
  isAway(): boolean;
}

/** A registry, as a process sees it over a connection that breaks. */
export function faultyRegistry(
  inner: FleetRegistry,
  world: World,
  process: Process,
  troubles: RegistryTroubles,
): FleetRegistry {
  return {
    beat: (beat) => {
      world.note();
      if (process.isDead) return new Promise(() => undefined);
      const fault = world.isCalm ? undefined : troubles.faultOf(process.calls++);
      if (fault === 'fails-before' || troubles.isAway()) throw new Error('away');
      if (fault === 'twice') void inner.beat(beat);
      const view = inner.beat(beat);
      if (fault === 'fails-after') throw new Error('away');
      if (fault === 'never') return new Promise(() => undefined);
      const delayMs = fault === 'late' ? 30_000 : world.dice.whole(0, 5);
      return new Promise((resolve) => {
        world.after(delayMs, () => {
          process.do(() => {
            resolve(view);
          });
        });
      });
    },
  };
}
