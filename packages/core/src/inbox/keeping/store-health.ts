import { show } from '../../errors.ts';
import type { Agenda } from './agenda.ts';
import type { InboxReport } from '../report/inbox-report.ts';
import { blameOf } from '../store/store-blame.ts';

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;
/**
 * At the door, where each second in which a store that works again is not asked costs deliveries, and where a store that
 * does not work must still be asked seldom: to ask it may hold the process up.
 */
export const MAX_DOOR_DELAY_MS = 1000;

/** For so long deliveries are taken in while none can be claimed or ended: a lock or a slow disk may take that long. */
const STUCK_MS = 30_000;

/** Whether the store works. When it does not, nobody asks it for a while, longer from failure to failure. */
export class StoreHealth {
  readonly #agenda: Agenda;
  readonly #report: InboxReport;
  readonly #maxDelayMs: number;
  #failures = 0;
  #failingSinceMs: number | undefined;
  #pause: Promise<void> | undefined;
  #resume: (() => void) | undefined;

  constructor(agenda: Agenda, report: InboxReport, maxDelayMs: number = MAX_DELAY_MS) {
    this.#agenda = agenda;
    this.#report = report;
    this.#maxDelayMs = maxDelayMs;
  }

  get isWell(): boolean {
    return this.#failures === 0;
  }

  /** Whether it has failed so lately that it is not to be asked. */
  get isResting(): boolean {
    return this.#pause !== undefined;
  }

  /** Whether no call has succeeded for long, although one was made. */
  get isStuck(): boolean {
    return this.#failingSinceMs !== undefined && this.#agenda.nowMs - this.#failingSinceMs >= STUCK_MS;
  }

  worked(): void {
    this.#failingSinceMs = undefined;
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.#resume?.();
    this.#report.emit({ type: 'store-recovered' });
  }

  failed(call: string, error: unknown): void {
    this.#report.totals.storeFailures += 1;
    this.#report.emit({ type: 'store-failed', call, error: messageOf(error) });
    // One delivery that cannot be kept says nothing of the store. Whatever else fails will be asked again, and waits.
    if (call === 'put' && blameOf(error) === 'value') return;
    this.#failingSinceMs ??= this.#agenda.nowMs;
    // Those that fail together are one failure: none of them has waited yet.
    this.#pause ??= this.#wait();
  }

  /** Resolves when it is worth another try: at once while the store works. */
  async rest(): Promise<void> {
    await this.#pause;
  }

  async #wait(): Promise<void> {
    const delayMs = Math.min(this.#maxDelayMs, FIRST_DELAY_MS * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 16);
    const recovered = new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
    await Promise.race([this.#agenda.pause(delayMs), recovered]);
    this.#pause = undefined;
  }
}

/** Of what was thrown; some libraries put all that a server has answered into it, and the shelf keeps it. */
const MAX_CHARACTERS = 4096;

/** What was thrown, in words; it may be anything. */
export function messageOf(error: unknown): string {
  const message = wordsOf(error);
  return message.length <= MAX_CHARACTERS ? message : `${message.slice(0, MAX_CHARACTERS)}…`;
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : show(error);
  // Whatever the types say, libraries write other things there; a store could not keep them.
  const message: unknown = error.message;
  if (message === '' || message === undefined) return error.name;
  return typeof message === 'string' ? message : show(message);
}
