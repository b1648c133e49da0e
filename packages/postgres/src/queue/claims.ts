import { encodeText } from '@webhook-backpressure/inbox/store';
import type { ClaimedDelivery, ClaimOptions, ClaimRef, Settlement } from '@webhook-backpressure/inbox';
import type { Presence } from '../server/presence.ts';
import type { Server } from '../server/server.ts';
import { ScanPlan, SlowAnswer } from './slow-scans.ts';
import type { ClaimedRow, Lease, UnknownOutcomes } from './unknown-outcomes.ts';

interface TurnRow extends ClaimedRow {
  readonly is_turn: boolean;
  readonly visited: number;
}

/** The last row of a claim. */
interface EndRow {
  readonly key: null;
  readonly id: null;
  readonly seq: number;
  readonly visited: number;
}

interface Held {
  readonly held: readonly boolean[];
}

/** Claims due deliveries from the keys in turn, renews claims, and settles them. */
export class Claims {
  readonly #server: Server;
  readonly #owner: string;
  readonly #presence: Presence;
  readonly #outcomes: UnknownOutcomes;
  readonly #plan: ScanPlan = new ScanPlan();
  /** For a receiver without workers: an owner that claims has its plan. */
  readonly #dueMs = new SlowAnswer<number>();
  /** The key claimed last, as stored. */
  #lastKey: string | null = null;

  /** @param outcomes - those of this owner, also of other ways to claim. */
  constructor(server: Server, owner: string, presence: Presence, outcomes: UnknownOutcomes) {
    this.#server = server;
    this.#owner = owner;
    this.#presence = presence;
    this.#outcomes = outcomes;
  }

  async claim(count: number, options: ClaimOptions): Promise<readonly ClaimedDelivery[]> {
    const { leaseMs, nowMs, maxStranded, except } = options;
    this.#dueMs.forget();
    const dead = await this.#presence.dead();
    const hasSkipped = except.size > 0;
    const scan = this.#plan.next(nowMs, hasSkipped);
    // In the order of the index.
    const floors = [...scan.floors].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    let startedMs = 0;
    const answer = await this.#outcomes.claiming(options, () => {
      startedMs = performance.now();
      return this.#server.rows<TurnRow | EndRow>('claim_v1', [
        this.#owner,
        count,
        leaseMs,
        this.#server.skew.toServer(nowMs),
        maxStranded,
        [...except].map(encodeText),
        this.#lastKey,
        dead,
        scan.isFull,
        scan.after,
        floors.map(([key]) => key),
        floors.map(([, { dueMs }]) => dueMs),
        floors.map(([, { seq }]) => seq),
      ]);
    });
    const endedMs = performance.now();
    const rows = answer.filter((row): row is TurnRow => row.key !== null);
    const turns = rows.filter(({ is_turn: isTurn }) => isTurn);
    this.#lastKey = turns.at(-1)?.key ?? this.#lastKey;
    // Absent while everything is paused.
    const end = answer.find((row): row is EndRow => row.key === null);
    if (end !== undefined)
      this.#plan.note({
        scan,
        isShort: rows.length < count,
        hasSkipped,
        turns: turns.map(({ key, due_ms: dueMs, seq, visited }) => ({ key, dueMs, seq, visited })),
        visited: end.visited,
        lastSeq: end.seq,
        nowMs,
        startedMs,
        endedMs,
      });
    return [...(await this.#outcomes.claimed(rows, options)).values()];
  }

  async nextDueMs(except: ReadonlySet<string> = new Set()): Promise<number | undefined> {
    const dueMs = this.#plan.nextDueMs ?? this.#dueMs.recent ?? (await this.#look(except));
    return dueMs === Infinity ? undefined : dueMs;
  }

  /** Infinity: never. */
  async #look(except: ReadonlySet<string>): Promise<number> {
    const { due_ms: due, visited } = await this.#server.call<{ due_ms: number | null; visited: number }>(
      'next_due_v1',
      [this.#owner, [...except].map(encodeText)],
    );
    const dueMs = due === null ? Infinity : due === -Infinity ? 0 : this.#server.skew.fromServer(due);
    this.#dueMs.note(dueMs, visited);
    return dueMs;
  }

  async renew(claims: readonly ClaimRef[], { leaseMs, nowMs }: Lease): Promise<readonly boolean[]> {
    if (claims.length === 0) return [];
    const before = this.#outcomes.heldOf(claims);
    const { held } = await this.#server.call<Held>('renew_v1', [
      this.#owner,
      this.#server.skew.toServer(nowMs) + leaseMs,
      before.map((one) => one?.seq ?? null),
      claims.map(({ attempt }) => attempt),
    ]);
    for (const [at, one] of claims.entries()) if (held[at] !== true) this.#outcomes.ended(one, before[at]);
    return held;
  }

  async settle(settlements: readonly Settlement[], nowMs: number): Promise<readonly boolean[]> {
    if (settlements.length === 0) return [];
    const { skew } = this.#server;
    return await this.#outcomes.settling(settlements, async ({ number, settlements: some, claims }, done) => {
      const { held } = await this.#server.call<Held>('settle_v1', [
        this.#owner,
        number,
        done,
        skew.toServer(nowMs),
        claims.map((one) => one?.seq ?? null),
        some.map(({ attempt }) => attempt),
        some.map(({ as }) => as),
        some.map((one) =>
          'retryAtMs' in one && one.retryAtMs !== undefined ? skew.toServer(one.retryAtMs) : null,
        ),
        some.map((one) => ('error' in one ? encodeText(one.error) : '')),
        some.map((one) =>
          one.as === 'completed' ? one.keep : one.as === 'failed' && one.isRepeated === true,
        ),
      ]);
      return held;
    });
  }
}
