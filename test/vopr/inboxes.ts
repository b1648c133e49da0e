import {
  createInbox,
  createWorker,
  type Inbox,
  type InboxDelivery,
  type InboxOptions,
  type InboxStore,
  RetryAfter,
  Unrecoverable,
  type WorkerOptions,
} from '@webhook-backpressure/inbox';
import { type Plan, SURELY_KEPT_MS } from './plan.ts';
import { MAX_LAG_MS, startReconciler } from './reconciling.ts';
import { Senders } from './senders.ts';
import { type Outcome, type Service, StoreRun } from './store-run.ts';
import { strangeValues } from './strange-values.ts';
import type { Process, World } from './world.ts';

/** An inbox in a process. */
interface InboxService extends Service {
  readonly inbox: Inbox;
}

/** Runs receivers and workers on one store, as a plan says. */
export function runInboxes(plan: Plan): Promise<Outcome> {
  const run = new StoreRun<InboxService>(plan, (here) => {
    const isReceiver = (at: number): boolean => plan.roles[at] !== 'worker';
    const receiver = () => {
      const running = here.pick(isReceiver);
      return running && { process: running.process, inbox: running.service.inbox };
    };
    const senders = new Senders(here.world, receiver, plan.reconciles === true ? MAX_LAG_MS : undefined);
    return {
      areClientsDone: () =>
        senders.isDone && senders.missed.every(({ sent }) => here.ledger.isKnown(sent.planned)),
      begin: (at) => {
        const planned = plan.deliveries[at];
        if (planned !== undefined) senders.expect(planned);
      },
      probe: ({ process, service }, at) => {
        if (!isReceiver(at)) return;
        const last = { key: 'a', atMs: 1, habit: 'fixed:1', maxAttempts: 1, isRepeated: false, acts: [] };
        senders.expect({ ...last, id: `d${String(1000 + at)}` }, { process, inbox: service.inbox });
      },
      create: (at, store, process) => {
        const inbox = createIn(here, at, store, process);
        if (plan.reconciles === true && isReceiver(at)) startReconciler(here.world, senders, inbox, process);
        return {
          ...serviceOf(inbox, here.world),
          ...(plan.roles[at] !== 'receiver' && { tune: tuner(here, inbox, process) }),
        };
      },
    };
  });
  return run.run();
}

function tuner({ world, plan }: StoreRun<InboxService>, inbox: Inbox, { name: worker }: Process) {
  return (concurrency: number): void => {
    inbox.update({ concurrency });
    // A batch is one call.
    if (plan.options.batches === 0) world.see({ type: 'limits', worker, concurrency });
  };
}

function serviceOf(inbox: Inbox, world: World): InboxService {
  return {
    inbox,
    close: (timeoutMs) => inbox.close({ timeoutMs }),
    redriveAll: () => inbox.deadLetters.redrive('all'),
    totals: () => {
      const { totals } = inbox.snapshot();
      const { stored, duplicate, conflict, overflow, started, completed, dead, lost, overdue } = totals;
      const counts = { stored, duplicate, conflict, overflow, started, completed, dead, lost, overdue };
      return { ...counts, 'dead-letters-full': totals.deadLettersFull, 'store-failed': totals.storeFailures };
    },
    compare: (state) => {
      const { depth, bytes, active, deadLetters, retained, isStoreFailing } = inbox.snapshot();
      const { size } = state.deadLetters;
      const none = { depth: 0, bytes: 0, active: 0 };
      // From then on, another process may have deleted some in the last seconds.
      const kept = world.nowMs < SURELY_KEPT_MS ? state.kept.size : retained;
      return [
        { depth, bytes, active, deadLetters, retained, isStoreFailing },
        { ...none, deadLetters: size, retained: kept, isStoreFailing: false },
      ];
    },
  };
}

function createIn(run: StoreRun<InboxService>, at: number, store: InboxStore, process: Process): Inbox {
  const { world, plan } = run;
  const { options } = plan;
  const { name: worker } = process;
  limit(run, worker);
  const handle = handlerIn(run, process);
  const shared = {
    store,
    clock: process.clock,
    wallClock: () => world.wallMs,
    random: () => world.dice.random(),
    capacity: options.capacity,
  };
  const receiving = {
    verify: false as const,
    keyGenerator: ({ headers }: { readonly headers: Readonly<Record<string, string>> }) => headers['x-key'],
    overflow: options.overflow,
    maxDeadLetters: options.maxDeadLetters,
  };
  const working: Omit<WorkerOptions, 'store'> = {
    concurrency: options.concurrency,
    maxHandlingMs: options.maxHandlingMs,
    maxStartsPerSecond: options.maxStartsPerSecond,
    maxConcurrencyPerKey: options.maxConcurrencyPerKey,
    maxDeadLetters: options.maxDeadLetters,
    keepCompletedMs: options.keepCompletedMs,
    ordered: options.ordered,
    retry: { attempts: options.attempts, firstDelayMs: 1000, maxDelayMs: 30_000 },
    ...(options.coalesces && { coalesce: ({ id }: InboxDelivery) => String(Number(id.slice(1)) % 3) }),
    ...(options.limits !== undefined && { limits: (key: string) => options.limits?.[key] }),
    ...(options.batches === 0
      ? { process: (delivery, { signal }) => handle([delivery], signal) }
      : {
          processBatch: (all, { signal }) => handle(all, signal),
          batch: { maxDeliveries: options.batches },
        }),
  };
  const role = plan.roles[at];
  let inbox: Inbox;
  if (role === 'receiver') inbox = createInbox({ ...shared, ...receiving });
  else if (role === 'worker') inbox = createWorker({ ...working, ...shared });
  else inbox = createInbox({ ...(working as unknown as InboxOptions), ...receiving, ...shared });
  inbox.subscribe((event) => {
    world.note();
    if (!process.isDead) world.reported.push({ ...event, atMs: world.nowMs, worker });
  });
  return inbox;
}

/** Records the limits of a process. */
function limit({ world, plan }: StoreRun<InboxService>, worker: string): void {
  const { batches, limits } = plan.options;
  const blocks = plan.deliveries.some(({ acts }) => acts.some(({ does }) => does === 'blocks'));
  for (const [key, { perSecond, burst, maxConcurrent }] of Object.entries(limits ?? {})) {
    // A token is taken with the claim, and its delivery starts some milliseconds later, or after a handler that blocks.
    if (perSecond !== undefined && burst !== undefined)
      world.see({ type: 'limits', worker, key, perSecond, burst: (blocks ? 2 : 1) * burst + 0.1 });
    world.commit({ type: 'limits', key, concurrency: maxConcurrent });
  }
  // A batch is one call.
  if (batches === 0) world.limit(worker, plan);
}

type Handler = (all: readonly InboxDelivery[], signal: AbortSignal) => Promise<void> | undefined;

function handlerIn(run: StoreRun<InboxService>, process: Process): Handler {
  const { world, plan, ledger } = run;
  const { name: worker } = process;
  const { coalesces, batches } = plan.options;
  const hasWallJumps = plan.faults.some(({ what }) => what === 'wall-jumps');
  const later = (id: string, signal: AbortSignal): RetryAfter => {
    const seconds = world.dice.whole(0, 20);
    // Not if the attempt has failed before, or the delay is that of several deliveries.
    if (!signal.aborted && !hasWallJumps && !coalesces && batches === 0) {
      // The store keeps whole milliseconds.
      ledger.askedFor(`${worker} ${id}`, world.nowMs + seconds * 1000 - 1);
    }
    return new RetryAfter(seconds);
  };
  return (all, signal) => {
    for (const { key, id } of all) world.see({ type: 'started', key, id, worker });
    const over = all.map((one) => run.ledger.called(worker, one));
    const end = (): void => {
      for (const each of over) each();
    };
    signal.addEventListener('abort', () => {
      end();
      for (const { key, id } of all) world.see({ type: 'ended', key, id, worker });
    });
    const acts = all.map((one) => run.nextAct(one));
    const killing = acts.find((act) => act.does === 'kills');
    if (killing !== undefined) {
      if (killing.ms === 0) run.die(process, 1000);
      else
        world.after(killing.ms, () => {
          if (!world.isCalm) run.die(process, 1000);
        });
      return new Promise(() => undefined);
    }
    const [{ id }] = all as readonly [InboxDelivery];
    const { does, ms } = acts[0] ?? { does: 'succeeds', ms: 5 };
    if (does === 'blocks') {
      world.block(ms);
      end();
      return undefined;
    }
    if (does === 'throws-anything' && ms % 2 === 0) {
      end();
      throw world.dice.of(strangeValues)();
    }
    return new Promise((resolve, reject) => {
      if (does === 'hangs') return;
      world.after(ms, () => {
        process.do(() => {
          end();
          if (does === 'succeeds') resolve();
          else if (does === 'fails') reject(new Error('it failed'));
          else if (does === 'gives-up') reject(new Unrecoverable('never'));
          else if (does === 'asks-for-later') reject(later(id, signal));
          else reject(world.dice.of(strangeValues)());
        });
      });
    });
  };
}
