import { startChild, type Child } from './children.ts';
import { freePort } from './free-port.ts';
import type { FleetMemberOptions, FleetMemberOrders, FleetMemberReports } from './messages.ts';

type MemberProcess = Child<FleetMemberOrders, FleetMemberReports>;

/** A receiver or a worker. After a kill it can be started again, as a supervisor does. */
export class FleetMember {
  readonly name: string;
  /** Process ids that were killed. */
  readonly killed: number[] = [];
  /** Never resolves; rejects when a process ends, except by `kill`. */
  readonly ended: Promise<never>;
  readonly #file: string;
  readonly #options: FleetMemberOptions;
  #process: MemberProcess | undefined;
  #fail: (error: unknown) => void = () => undefined;

  private constructor(name: string, file: string, options: FleetMemberOptions) {
    this.name = name;
    this.#file = file;
    this.#options = options;
    this.ended = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // In the end all processes are ended.
    this.ended.catch(() => undefined);
  }

  static async receiver(number: number, options: Omit<FleetMemberOptions, 'port'>): Promise<FleetMember> {
    return new FleetMember(`receiver ${String(number)}`, 'fleet-receiver.js', {
      ...options,
      port: await freePort(),
    });
  }

  static worker(number: number, options: Omit<FleetMemberOptions, 'port'>): FleetMember {
    return new FleetMember(`worker ${String(number)}`, 'fleet-worker.js', { ...options, port: 0 });
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.#options.port)}/webhooks`;
  }

  async start(): Promise<void> {
    const started = startChild<FleetMemberOrders, FleetMemberReports>(this.#file);
    this.#process = started;
    started.ended.catch((error: unknown) => {
      if (this.#process === started) this.#fail(error);
    });
    await started.ask('start', this.#options, 'ready');
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    const killed = this.#process;
    if (killed === undefined) return;
    this.#process = undefined;
    this.killed.push(killed.pid);
    await killed.kill();
  }
}
