import type { InboxStore } from '@webhook-backpressure/inbox';
import { createSender, type Sender } from '@webhook-backpressure/sender';
import type { Plan, PlannedDelivery } from './plan.ts';
import { type Outcome, type Running, type Service, StoreRun } from './store-run.ts';
import type { Process } from './world.ts';

/** How long the producer waits before it sends an event again. */
const AGAIN_MS = 2000;

interface SenderService extends Service {
  readonly sender: Sender;
}

/** Runs senders on one store, as a plan says: its keys are endpoints. */
export function runSenders(plan: Plan): Promise<Outcome> {
  let open = 0;
  const run = new StoreRun<SenderService>(plan, (here) => {
    const { world } = here;
    /** Until it is stored, whichever process does it. */
    const send = (one: PlannedDelivery, to?: Running<SenderService>): void => {
      const running = to ?? here.pick(() => true);
      let isOver = false;
      const again = (): void => {
        if (isOver) return;
        isOver = true;
        world.after(AGAIN_MS, () => {
          send(one, to);
        });
      };
      // The process that was asked may have died.
      world.after(70_000, again);
      if (running === undefined) again();
      running?.process.do(() => {
        const { key, id, isRepeated } = one;
        running.service.sender.send({ endpoint: key, type: 'vopr', data: { id }, id }).then(
          () => {
            if (running.process.isDead || isOver) return;
            isOver = true;
            world.see({ type: 'acknowledged', key, id });
            open -= 1;
            if (isRepeated) begin({ ...one, isRepeated: false, atMs: 1000 });
          },
          () => {
            world.note();
            again();
          },
        );
      });
    };
    const begin = (one: PlannedDelivery, to?: Running<SenderService>): void => {
      open += 1;
      world.after(one.atMs, () => {
        send(one, to);
      });
    };
    return {
      areClientsDone: () => open === 0,
      begin: (at) => {
        const planned = plan.deliveries[at];
        if (planned !== undefined) begin(planned);
      },
      probe: (running, at) => {
        const last = { key: 'a', atMs: 1, habit: '', maxAttempts: 1, isRepeated: false, acts: [] };
        begin({ ...last, id: `d${String(1000 + at)}` }, running);
      },
      create: (_at, store, process) => serviceOf(createIn(here, store, process)),
    };
  });
  return run.run();
}

function serviceOf(sender: Sender): SenderService {
  return {
    sender,
    close: (timeoutMs) => sender.close({ timeoutMs }),
    redriveAll: () => sender.deadLetters.redrive('all'),
    totals: () => {
      const { accepted, duplicate, conflict, delivered, dead, lost, storeFailures } =
        sender.snapshot().totals;
      const counts = { accepted, duplicate, conflict, delivered, dead, lost, 'store-failed': storeFailures };
      return Object.fromEntries(Object.entries(counts).map(([type, count]) => [`sender ${type}`, count]));
    },
    compare: (state) => {
      const { depth, inFlight, deadLetters, isStoreFailing } = sender.snapshot();
      const { size } = state.deadLetters;
      return [
        { depth, inFlight, deadLetters, isStoreFailing },
        { depth: 0, inFlight: 0, deadLetters: size, isStoreFailing: false },
      ];
    },
  };
}

function createIn(run: StoreRun<SenderService>, store: InboxStore, process: Process): Sender {
  const { world, plan } = run;
  const { concurrency, ordered, capacity, attempts, maxHandlingMs, maxDeadLetters } = plan.options;
  const { name: worker } = process;
  const rate = 1 + (plan.seed % 20);
  const burst = 1 + (plan.seed % 5);
  const mostInFlight = ordered ? 1 : concurrency;
  for (const key of new Set(['a', ...plan.deliveries.map((one) => one.key)])) {
    world.see({ type: 'limits', worker, key, perSecond: rate, burst, concurrency: mostInFlight });
  }
  const sender = createSender({
    store,
    endpoint: (id) => ({
      url: `https://${id}.example/`,
      secret: null,
      rate: { perSecond: rate },
      burst,
      maxInFlight: concurrency,
      ordered,
    }),
    clock: process.clock,
    wallClock: () => world.wallMs,
    random: () => world.dice.random(),
    capacity,
    whenFull: plan.redrives ? 'refuse' : 'wait',
    timeoutMs: maxHandlingMs,
    maxDeadLetters,
    retry: { attempts, firstDelayMs: 1000, maxDelayMs: 30_000 },
    fetch: fetchIn(run, process),
  });
  sender.subscribe((event) => {
    world.note();
    // Its events name endpoints, so that only their numbers are compared.
    if (!process.isDead) world.reported.push({ type: `sender ${event.type}`, atMs: world.nowMs, worker });
  });
  return sender;
}

function fetchIn(run: StoreRun<SenderService>, process: Process): typeof fetch {
  const { world, plan } = run;
  const { name: worker } = process;
  return (input, init) => {
    const key = new URL(input instanceof Request ? input.url : input).hostname.split('.')[0] ?? '';
    const id = new Headers(init?.headers).get('webhook-id') ?? '';
    const signal = init?.signal;
    world.see({ type: 'started', key, id, worker });
    const { does, ms } = run.nextAct({ key, id });
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (action: () => void): void => {
        if (isOver) return;
        isOver = true;
        world.see({ type: 'ended', key, id, worker });
        action();
      };
      signal?.addEventListener('abort', () => {
        end(() => {
          reject(new Error('aborted'));
        });
      });
      if (does === 'hangs') return;
      // Not in the call itself: a request is sent without waiting for what follows it.
      if (does === 'blocks')
        world.after(0, () => {
          world.block(ms);
        });
      world.after(ms, () => {
        process.do(() => {
          end(() => {
            if (does === 'succeeds' || does === 'blocks') resolve(new Response(null, { status: 204 }));
            else if (does === 'fails') resolve(new Response(null, { status: 500 }));
            else if (does === 'gives-up') resolve(new Response(null, { status: 400 }));
            else if (does === 'throws-anything') reject(new TypeError('fetch failed'));
            else {
              const seconds = world.dice.whole(1, 20);
              // Another process does not know of it.
              if (plan.roles.length === 1 && plan.faults.every(({ what }) => what === 'call')) {
                const untilMs = world.nowMs + seconds * 1000 - 1;
                world.after(0, () => {
                  if (!process.isDead) world.see({ type: 'retry-after', key, untilMs });
                });
              }
              const status = world.dice.of([429, 503]);
              resolve(new Response(null, { status, headers: { 'retry-after': String(seconds) } }));
            }
          });
        });
      });
    });
  };
}
