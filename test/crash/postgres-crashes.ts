import { setTimeout } from 'node:timers/promises';
import type { HistoryEvent } from '@webhook-backpressure/core/testing';
import { idHash } from '../../packages/postgres/src/records/records.ts';
import type { PostgresServer } from '../../demo/src/postgres-server.ts';
import { Proxy } from '../postgres/proxy.ts';
import { chanceOf } from './chance.ts';
import { explain, type Cause, type Explained } from './causes.ts';
import { historyOf, readLog, type Ref } from './handler-log.ts';
import { PostgresAudit, type StoredOnServer } from './postgres-audit.ts';
import { Receiver, type ReceiverSettings } from './receiver.ts';
import { Sender } from './sender.ts';

export interface FleetPlan {
  readonly server: PostgresServer;
  readonly log: string;
  readonly kills: number;
  /** How often the server is stopped without a checkpoint, and started again. */
  readonly stops: number;
  /** How long one process has no network to the server. */
  readonly partitionMs: number;
  readonly seed: number;
}

export interface FleetOutcome {
  readonly sender: Sender;
  readonly history: readonly HistoryEvent[];
  readonly explained: Explained;
  readonly stored: StoredOnServer;
  /** Processes that ended without a kill. */
  readonly fallen: number;
}

export const SETTINGS: ReceiverSettings = { concurrency: 10, attempts: 100, maxHandlingMs: 60_000 };
/** One fewer with the two kills of `npm test`: of either there is still another one while one is away. */
const EACH = process.env['CRASH_KILLS'] === undefined ? 2 : 3;
export const RECEIVERS = EACH;
export const WORKERS = EACH;

const CONNECTIONS = 12;
/** So that several handlers of each process run when it is killed. */
const MAX_HANDLING_MS = 200;
/** A process is killed after at most this many acknowledgements, or this many milliseconds without so many. */
const MAX_ACKNOWLEDGED = 250;
const MAX_QUIET_MS = 2000;
const RETRY_MS = 10;
const LOOK_MS = 50;

type Role = 'receiver' | 'worker';

/** A place for one process after the other, with a separate network to the server. */
interface Place {
  readonly role: Role;
  readonly proxy: Proxy;
  process: Receiver;
  isReady: boolean;
}

/** Sends without a pause to several receivers, kills them and workers at random moments, and lets the rest drain. */
export class FleetCrashes {
  readonly #plan: FleetPlan;
  readonly #chance: () => number;
  readonly #sender = new Sender();
  readonly #unanswered = new Map<string, number>();
  readonly #causes: Cause[] = [];
  readonly #places: Place[] = [];
  #lives = 0;
  #fallen = 0;
  #next = 0;
  #isSending = true;

  constructor(plan: FleetPlan) {
    this.#plan = plan;
    this.#chance = chanceOf(plan.seed);
  }

  async run(): Promise<FleetOutcome> {
    const { server, log, kills, stops, partitionMs } = this.#plan;
    const audit = new PostgresAudit(server.connectionString);
    try {
      for (let at = 0; at < RECEIVERS; at += 1) await this.#open('receiver');
      for (let at = 0; at < WORKERS; at += 1) await this.#open('worker');
      // The first acknowledgement follows the creation of the tables.
      while (!(await this.#send('first', 0))) await setTimeout(RETRY_MS);
      while ((await audit.unfinished()) > 0) await setTimeout(LOOK_MS);
      await audit.begin();
      const sending = Array.from({ length: CONNECTIONS }, () => this.#keepSending());
      const victim = Math.floor(this.#chance() * this.#places.length);
      let partition: Promise<void> | undefined;
      for (let killed = 0; killed < kills; killed += 1) {
        await this.#someAcknowledged();
        if (killed === Math.floor(kills / 4)) partition = this.#partition(victim, partitionMs);
        if (Math.floor((killed * stops) / kills) < Math.floor(((killed + 1) * stops) / kills))
          await this.#stopServer();
        // The one without a network stays alive, since a kill would end the partition.
        const others = this.#places.filter((_, at) => at !== victim || partition === undefined);
        await this.#kill(others[Math.floor(this.#chance() * others.length)] as Place);
      }
      await partition;
      this.#isSending = false;
      await Promise.all(sending);
      while ((await audit.unfinished()) > 0) await setTimeout(LOOK_MS);
      const steps = readLog(log);
      const stored = await audit.read();
      // The first one was completed before the log of completions began.
      const isLogged = ({ id }: Ref): boolean => id !== 'first';
      // Its runs are those of `explained`: a process may start a delivery again after a stop or a partition.
      const ends = steps.filter((step) => step.type === 'ended' && isLogged(step));
      const acknowledged = this.#sender.refs.filter(isLogged);
      return {
        sender: this.#sender,
        history: historyOf(ends, { ...stored, acknowledged, hashOf: idHash }),
        explained: explain(steps, this.#causes),
        stored,
        fallen: this.#fallen,
      };
    } finally {
      this.#isSending = false;
      await audit.end();
      for (const { process, proxy } of this.#places) {
        await process.kill();
        await proxy.close();
      }
      this.#sender.hangUp();
    }
  }

  async #open(role: Role): Promise<void> {
    const { server } = this.#plan;
    const proxy = await Proxy.to(server.connectionString);
    const place: Place = { role, proxy, process: this.#live(role, proxy), isReady: false };
    this.#places.push(place);
    await this.#ready(place);
  }

  #live(role: Role, proxy: Proxy): Receiver {
    const { server, log } = this.#plan;
    this.#lives += 1;
    const store = { connectionString: proxy.via(server.connectionString) };
    const process = new Receiver({ role, store, log, life: this.#lives, ...SETTINGS });
    void process.died.then(() => {
      if (!process.isKilled) this.#fallen += 1;
    });
    return process;
  }

  async #ready(place: Place): Promise<void> {
    const { process } = place;
    if ((await process.start()) && place.process === process) place.isReady = true;
  }

  async #kill(place: Place): Promise<void> {
    const { role, process, proxy } = place;
    place.isReady = false;
    const nowMs = Date.now();
    this.#causes.push({ what: 'kill', life: process.life, fromMs: nowMs, toMs: nowMs });
    await process.kill();
    place.process = this.#live(role, proxy);
    // Sometimes the next one is killed during its start.
    void this.#ready(place);
  }

  async #stopServer(): Promise<void> {
    const cause: Cause = { what: 'stop', fromMs: Date.now(), toMs: Infinity };
    this.#causes.push(cause);
    const { server } = this.#plan;
    await server.crash();
    await server.restart();
    cause.toMs = Date.now();
  }

  async #partition(victim: number, forMs: number): Promise<void> {
    const { proxy, process } = this.#places[victim] as Place;
    const cause: Cause = { what: 'partition', life: process.life, fromMs: Date.now(), toMs: Infinity };
    this.#causes.push(cause);
    proxy.stop();
    await setTimeout(forMs);
    proxy.resume();
    cause.toMs = Date.now();
  }

  async #someAcknowledged(): Promise<void> {
    const { acknowledged } = this.#sender;
    const until = acknowledged.size + Math.floor(this.#chance() * MAX_ACKNOWLEDGED);
    const over = new AbortController();
    await Promise.race([
      new Promise<void>((resolve) => {
        this.#sender.onAcknowledged = () => {
          if (acknowledged.size >= until) resolve();
        };
      }),
      setTimeout(MAX_QUIET_MS, undefined, { signal: over.signal }).catch(() => undefined),
    ]);
    over.abort();
  }

  /** Sends deliveries on one connection; in the end only those without an acknowledgement. */
  async #keepSending(): Promise<void> {
    while (this.#isSending || this.#unanswered.size > 0) {
      const [again] = this.#unanswered;
      if (again === undefined) this.#next += 1;
      const [id, tookMs] = again ?? [
        `evt-${String(this.#next)}`,
        Math.floor(this.#chance() * MAX_HANDLING_MS),
      ];
      this.#unanswered.delete(id);
      if (await this.#send(id, tookMs)) continue;
      this.#unanswered.set(id, tookMs);
      await setTimeout(RETRY_MS);
    }
  }

  /** A delivery that was refused is sent to any receiver the next time, as balancers do. */
  async #send(id: string, tookMs: number): Promise<boolean> {
    const ready = this.#places.slice(0, RECEIVERS).filter(({ isReady }) => isReady);
    const place = ready[Math.floor(this.#chance() * ready.length)];
    return place !== undefined && (await this.#sender.send(place.process.port, id, { tookMs }));
  }
}
