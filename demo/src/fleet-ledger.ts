import { existsSync, readFileSync } from 'node:fs';
import { WARM_UP } from './setup.ts';

/** What the handlers of a fleet did, but for the warm-up. */
export interface FleetLedger {
  /** Distinct deliveries. */
  readonly handled: ReadonlySet<string>;
  /** Runs of a handler for a delivery that had been handled before … */
  readonly repeats: {
    /** … by a process that was killed then. */
    readonly afterKill: number;
    /** … by one that lived on. */
    readonly otherwise: number;
  };
}

/** @param killed - ids of processes that were killed. */
export function readLedger(path: string, killed: ReadonlySet<number>): FleetLedger {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  const lastBy = new Map<string, number>();
  let [afterKill, otherwise] = [0, 0];
  for (const line of lines) {
    const [id = '', by] = line.split(' ');
    if (by === undefined || id.startsWith(WARM_UP.prefix)) continue;
    const before = lastBy.get(id);
    lastBy.set(id, Number(by));
    if (before === undefined) continue;
    if (killed.has(before)) afterKill += 1;
    else otherwise += 1;
  }
  return { handled: new Set(lastBy.keys()), repeats: { afterKill, otherwise } };
}
