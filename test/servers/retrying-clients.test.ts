import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OverloadedReceiver, type History } from './overloaded-receiver.ts';
import { MAX_RETRIES, retryingClients, type RetryingClient } from './retrying-clients.ts';

const BURST = 150;
/** Handled sequentially before the burst, so that the receiver knows its drain rate. */
const ORDINARY = 10;
/** One is handled and 64 are queued until all have arrived, however slow the clients are. */
const REFUSED = BURST - 65;

/** One client and its receiver. */
class Run {
  readonly client: RetryingClient;
  readonly receiver = new OverloadedReceiver();
  /** The final status of each delivery. */
  statuses: number[] = [];
  #burst: Promise<number>[] = [];

  constructor(client: RetryingClient) {
    this.client = client;
  }

  get histories(): History[] {
    return [...this.receiver.deliveries.values()];
  }

  get attempts(): number[] {
    return this.histories.map(({ attempts }) => attempts);
  }

  get refusedAtFirst(): number {
    return this.attempts.filter((attempts) => attempts > 1).length;
  }

  /** Waits until all deliveries have arrived once, so that bursts do not slow each other down. */
  async fire(): Promise<void> {
    const url = await this.receiver.listen();
    const send = (id: string): Promise<number> => this.client.deliver({ url, id, body: `{"id":"${id}"}` });
    for (let i = 0; i < ORDINARY; i += 1) await send(`ordinary-${String(i)}`);
    this.receiver.deliveries.clear();
    const arrived = this.receiver.whenArrived(BURST);
    this.receiver.held = arrived;
    this.#burst = Array.from({ length: BURST }, (_, i) => send(`burst-${String(i)}`));
    await arrived;
  }

  async end(): Promise<void> {
    this.statuses = await Promise.all(this.#burst);
  }

  report(): string {
    const { attempts, client } = this;
    const told = this.histories.flatMap((history) => history.told);
    return (
      `${client.name}, ${client.obeys ? 'obeying' : 'ignoring'} Retry-After of ` +
      `${String(Math.min(...told))} to ${String(Math.max(...told))} s: ${String(attempts.length)} deliveries, ` +
      `${String(this.refusedAtFirst)} refused at first, ${(sum(attempts) / attempts.length).toFixed(2)} attempts ` +
      `per delivery, at most ${String(Math.max(...attempts))}`
    );
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

describe.each([
  { what: 'obey Retry-After', obeys: true },
  { what: 'follow their own schedule', obeys: false },
])('clients that $what over real sockets', ({ obeys }) => {
  const runs = retryingClients.filter((client) => client.obeys === obeys).map((client) => new Run(client));

  beforeAll(async () => {
    for (const run of runs) await run.fire();
    await Promise.all(runs.map((run) => run.end()));
    console.log(runs.map((run) => run.report()).join('\n'));
  }, 25_000);

  afterAll(() => {
    for (const { receiver } of runs) receiver.close();
  });

  describe.each(runs)('$client.name', (run) => {
    it('delivers each delivery once', () => {
      expect(run.refusedAtFirst).toBe(REFUSED);
      expect(run.statuses).toEqual(Array<number>(BURST).fill(200));
      expect(run.histories.map(({ handled }) => handled)).toEqual(Array<number>(BURST).fill(1));
    });

    it('gets one refusal for each retry and loses no delivery', () => {
      const { depth, active, totals } = run.receiver.middleware.intake.snapshot();
      expect([depth, active]).toEqual([0, 0]);
      expect(totals.completed).toBe(BURST + ORDINARY);
      expect(sum(Object.values(totals.refused))).toBe(sum(run.attempts) - BURST);
      expect(totals.failed + sum(Object.values(totals.withdrawn))).toBe(0);
    });

    if (obeys) {
      it('never retries early, and succeeds within a few attempts', () => {
        expect(sum(run.histories.map(({ early }) => early))).toBe(0);
        expect(Math.max(...run.attempts)).toBeLessThanOrEqual(5);
      });
    } else {
      it('retries early, and still succeeds', () => {
        expect(sum(run.histories.map(({ early }) => early))).toBeGreaterThan(0);
        expect(Math.max(...run.attempts)).toBeLessThan(MAX_RETRIES);
      });
    }
  });
});
