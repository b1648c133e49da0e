import type { Agenda, Task } from '../keeping/agenda.ts';
import { LEASE_MS } from './claims.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import type { Run } from './run.ts';
import type { StoreHealth } from '../keeping/store-health.ts';

const RENEW_MS = LEASE_MS / 3;

/** What the renewals work with. */
export interface RenewalParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly agenda: Agenda;
  readonly now: () => number;
  readonly wallMs: () => number;
  readonly runs: ReadonlySet<Run>;
  /** Another process has taken a claim over. */
  readonly lost: (run: Run) => void;
}

/** Prolongs the claims of what is in hand, so that no other process takes it over. */
export class Renewals {
  readonly #parts: RenewalParts;
  readonly #task: Task;

  constructor(parts: RenewalParts) {
    this.#parts = parts;
    this.#task = parts.agenda.task(() => void this.#renew());
  }

  begin(): void {
    this.#task.set(this.#parts.now() + RENEW_MS);
  }

  end(): void {
    this.#task.clear();
  }

  async #renew(): Promise<void> {
    const { store, health, now, wallMs, runs, lost } = this.#parts;
    this.#task.set(now() + RENEW_MS);
    const held = [...runs].filter(({ state }) => state !== 'over');
    try {
      const results = await store.renew(
        held.map(({ ref }) => ref),
        { leaseMs: LEASE_MS, nowMs: wallMs() },
      );
      for (const [at, run] of held.entries()) {
        // What is being settled may have been settled by now, and is no longer held for that reason.
        if (results[at] === true || run.state === 'settling' || run.state === 'over') continue;
        lost(run);
      }
    } catch (error) {
      health.failed('renew', error);
    }
  }
}
