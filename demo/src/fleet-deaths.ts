import { setTimeout as sleep } from 'node:timers/promises';
import { FLEET } from './setup.ts';

/** Reports that one was stopped, and later after how many milliseconds it works again. */
export type DeathReport = (name: string, downMs?: number) => void;

/** What is stopped, and when. */
export interface PlannedDeath {
  readonly name: string;
  /** How many deliveries have been acknowledged by then. */
  readonly atAcknowledged: number;
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<void>;
}

/** Stops processes and the database in the middle of an import, and starts each again, as a supervisor does. */
export class FleetDeaths {
  /** Rejects when one of them does not start again. */
  readonly failed: Promise<never>;
  readonly #waiting: PlannedDeath[];
  readonly #report: DeathReport;
  readonly #running: Promise<void>[] = [];
  #count = 0;
  #fail: (error: unknown) => void = () => undefined;

  constructor(planned: readonly PlannedDeath[], report: DeathReport) {
    this.#waiting = [...planned];
    this.#report = report;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
  }

  /** How many were stopped. */
  get count(): number {
    return this.#count;
  }

  /** Begins those whose time has come. */
  begin(acknowledged: number): void {
    const due = this.#waiting.filter(({ atAcknowledged }) => acknowledged >= atAcknowledged);
    for (const planned of due) {
      this.#waiting.splice(this.#waiting.indexOf(planned), 1);
      const run = this.#run(planned);
      run.catch(this.#fail);
      this.#running.push(run);
    }
  }

  /** Waits until all that have begun are over. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #run({ name, stop, start }: PlannedDeath): Promise<void> {
    const stoppedAt = performance.now();
    this.#count += 1;
    await stop();
    this.#report(name);
    await sleep(FLEET.downMs);
    await start();
    this.#report(name, performance.now() - stoppedAt);
  }
}
