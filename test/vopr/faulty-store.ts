import { BackpressureError } from '@webhook-backpressure/base';
import type {
  ClaimedDelivery,
  ClaimRef,
  DeliveryRef,
  InboxStore,
  Settlement,
} from '@webhook-backpressure/inbox';
import type { CallFault } from './plan.ts';
import type { StoreLedger } from './store-ledger.ts';
import type { Process, World } from './world.ts';

/** A call that is not answered is given up by the client of a store after this time. */
const GIVE_UP_MS = 60_000;

/** What goes wrong with the store of all processes. */
export interface StoreTroubles {
  readonly isSynchronous: boolean;
  /** How a call of a process goes wrong, by its number. */
  faultOf(process: Process, call: number): CallFault | undefined;
  /** Until when the store is away. */
  awayUntilMs: number;
}

type Calls = {
  [
    K in keyof InboxStore as NonNullable<InboxStore[K]> extends (...given: never[]) => unknown ? K : never
  ]-?: InboxStore[K];
};

/**
 * One owner of a memory store, as a process sees it over a connection that breaks. As the stores of this repository do, it
 * gives back claims whose answer was lost before it claims again, and makes no settlement twice: a repeated one has the result
 * of the first.
 */
export function faultyStore(
  inner: InboxStore,
  world: World,
  process: Process,
  ledger: StoreLedger,
  troubles: StoreTroubles,
): InboxStore {
  const { name } = process;
  /** Claims that were committed without an answer. */
  let strays: readonly ClaimRef[] = [];
  const settledBefore = new Map<Settlement, boolean>();
  /** What the process learns with the answer to a call, by that answer. */
  const learns = new WeakMap<object, () => void>();
  /** Whether a failover undoes the next claims. */
  let forgets = false;

  const giveBackStrays = (nowMs: number): void => {
    const claims = strays;
    strays = [];
    if (claims.length === 0) return;
    const held = inner.settle(
      claims.map((claim) => ({ ...refOf(claim), as: 'released' })),
      nowMs,
    ) as readonly boolean[];
    ledger.forgotten(name, claims, held, false);
  };

  const commits: { [K in keyof Calls]?: (args: never, fault: CallFault | undefined) => unknown } = {};
  const on = <K extends keyof Calls>(
    call: K,
    commit: (args: Parameters<NonNullable<Calls[K]>>, fault: CallFault | undefined) => unknown,
  ): void => {
    commits[call] = commit;
  };

  on('put', ([batch, options]) => {
    const results = inner.put(batch, options) as readonly string[];
    ledger.put(batch, results);
    return results;
  });
  const claimed = (
    all: readonly ClaimedDelivery[],
    nowMs: number,
    leaseMs: number,
    fault?: CallFault,
  ): void => {
    ledger.claimed(name, all, nowMs, leaseMs);
    if (fault === 'fails-after' || fault === 'never') strays = [...strays, ...all.map(refOf)];
    forgets ||= fault === 'forgotten';
    if (!forgets || all.length === 0) return;
    forgets = false;
    world.after(world.dice.whole(1, world.dice.of([10, 600])), () => {
      const held = inner.settle(
        all.map((claim) => ({ ...refOf(claim), as: 'released' })),
        nowMs,
      ) as readonly boolean[];
      ledger.forgotten(name, all, held, true);
    });
  };
  const leaseOf = (leaseMs: number, fault?: CallFault): number => (fault === 'short-lease' ? 1 : leaseMs);
  on('claim', ([count, options], fault) => {
    giveBackStrays(options.nowMs);
    const leaseMs = leaseOf(options.leaseMs, fault);
    const all = inner.claim(count, { ...options, leaseMs }) as readonly ClaimedDelivery[];
    claimed(all, options.nowMs, leaseMs, fault);
    return all;
  });
  on('claimKeys', ([wants, options], fault) => {
    giveBackStrays(options.nowMs);
    const leaseMs = leaseOf(options.leaseMs, fault);
    const results = inner.claimKeys(wants, { ...options, leaseMs }) as readonly {
      readonly claimed: readonly ClaimedDelivery[];
    }[];
    claimed(
      results.flatMap((one) => one.claimed),
      options.nowMs,
      leaseMs,
      fault,
    );
    return results;
  });
  on('renew', ([claims, options], fault) => {
    const leaseMs = leaseOf(options.leaseMs, fault);
    const held = inner.renew(claims, { ...options, leaseMs }) as readonly boolean[];
    learns.set(held, ledger.renewed(name, claims, held, options.nowMs + leaseMs));
    return held;
  });
  on('settle', ([settlements, nowMs], fault) => {
    const some = settlements.filter((one) => !settledBefore.has(one));
    const held = inner.settle(some, nowMs) as readonly boolean[];
    ledger.settled(name, some, held, nowMs);
    for (const [at, one] of some.entries()) settledBefore.set(one, held[at] === true);
    const answers = settlements.map((one) => settledBefore.get(one) === true);
    const isAnswered = fault !== 'fails-after' && fault !== 'never' && fault !== 'twice';
    for (const one of settlements) if (isAnswered) settledBefore.delete(one);
    learns.set(answers, () => {
      for (const [at, one] of settlements.entries()) if (answers[at] === false) ledger.knowsLost(name, one);
    });
    return answers;
  });
  on('redrive', (args) => {
    const all = inner.redrive(...args) as readonly DeliveryRef[];
    ledger.moved('redriven', all);
    return all;
  });
  on('replay', (args) => {
    const all = inner.replay(...args) as readonly DeliveryRef[];
    ledger.moved('redriven', all);
    return all;
  });
  on('purge', (args) => {
    const all = inner.purge(...args) as readonly DeliveryRef[];
    ledger.moved('purged', all);
    return all;
  });
  on('close', ([nowMs]) => {
    const closed = inner.close(nowMs);
    ledger.closed(name);
    return closed;
  });

  const call = (what: keyof Calls, args: readonly unknown[]): unknown => {
    world.note();
    if (process.isDead) return new Promise(() => undefined);
    const fault = world.isCalm ? undefined : troubles.faultOf(process, process.calls++);
    const commit = (): unknown =>
      commits[what] === undefined
        ? (inner[what] as (...given: unknown[]) => unknown)(...args)
        : commits[what](args as never, fault);
    if (troubles.isSynchronous) return atOnce(what, fault, commit);
    return overNetwork(what, fault, commit);
  };

  const error = (what: string): Error => {
    world.see({ type: 'store-failed' });
    return world.dice.isLucky(0.5)
      ? new Error(`the connection was lost during ${what}`)
      : new BackpressureError('ERR_WBP_POSTGRES_UNAVAILABLE', `The server went away during ${what}.`);
  };

  const answered = (result: unknown): unknown => {
    if (typeof result === 'object' && result !== null) learns.get(result)?.();
    return result;
  };

  const atOnce = (what: string, fault: CallFault | undefined, commit: () => unknown): unknown => {
    if (fault === 'fails-before' || world.nowMs < troubles.awayUntilMs) throw error(what);
    if (fault === 'twice' && isRepeatable(what)) commit();
    const result = commit();
    if (fault === 'fails-after') throw error(what);
    return answered(result);
  };

  const overNetwork = (what: string, fault: CallFault | undefined, commit: () => unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const fail = (ms: number): void => {
        world.after(ms, () => {
          process.do(() => {
            reject(error(what));
          });
        });
      };
      const { dice } = world;
      if (fault === 'fails-before') {
        fail(dice.whole(0, 100));
        return;
      }
      world.after(dice.whole(0, dice.isLucky(0.1) ? 50 : 3), () => {
        if (world.nowMs < troubles.awayUntilMs) {
          fail(dice.whole(0, 10_000));
          return;
        }
        if (fault === 'twice' && isRepeatable(what)) commit();
        const result = commit();
        if (fault === 'fails-after') fail(dice.whole(0, 3000));
        else if (fault === 'never') fail(GIVE_UP_MS);
        else {
          world.after(fault === 'late' ? dice.whole(1000, 45_000) : dice.whole(0, 3), () => {
            process.do(() => {
              resolve(answered(result));
            });
          });
        }
      });
    });

  const names = Object.keys(inner).filter((key) => typeof inner[key as keyof InboxStore] === 'function');
  return Object.fromEntries(
    names.map((what) => [what, (...args: unknown[]) => call(what as keyof Calls, args)]),
  ) as unknown as InboxStore;
}

/** Whether a connection that was lost may have made the call twice, as far as the stores of this repository do. */
function isRepeatable(what: string): boolean {
  return what === 'put' || what === 'settle' || what === 'renew';
}

function refOf({ key, id, attempt }: ClaimRef): ClaimRef {
  return { key, id, attempt };
}
