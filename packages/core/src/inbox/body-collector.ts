import type { BodySink } from './inbox.ts';

/** What all bodies that are being received may take together: they are in memory until they are committed. */
const BUDGET_BYTES = 64 * 1024 * 1024;

/** Bounds the bodies that are in memory at once. */
export class BodyBudget {
  readonly #maxBodyBytes: () => number;
  #used = 0;

  /** @param maxBodyBytes - of one: it must find a place, alone at least. */
  constructor(maxBodyBytes: () => number) {
    this.#maxBodyBytes = maxBodyBytes;
  }

  take(bytes: number): boolean {
    if (this.#used + bytes > Math.max(BUDGET_BYTES, this.#maxBodyBytes())) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

/** Collects the bytes of a body as they come, up to a limit. */
export class BodyCollector implements BodySink {
  readonly #maxBytes: number;
  readonly #budget: BodyBudget;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #isClosed = false;
  #trouble: 'too-large' | 'overloaded' | undefined;

  constructor(maxBytes: number, budget: BodyBudget) {
    this.#maxBytes = maxBytes;
    this.#budget = budget;
  }

  /** Why no more of it is wanted, if so. */
  get trouble(): 'too-large' | 'overloaded' | undefined {
    return this.#trouble;
  }

  /** Whether a body of this Content-Length is worth reading at all. */
  expect(contentLength: string | undefined): boolean {
    if (Number(contentLength) > this.#maxBytes) this.#trouble = 'too-large';
    return this.#trouble === undefined;
  }

  /** Takes the next bytes. False when no more is wanted: the reader stops. */
  add(chunk: Uint8Array): boolean {
    if (this.#isClosed || this.#trouble !== undefined) return false;
    if (this.#size + chunk.byteLength > this.#maxBytes) this.#trouble = 'too-large';
    else if (!this.#budget.take(chunk.byteLength)) this.#trouble = 'overloaded';
    if (this.#trouble !== undefined) return false;
    this.#size += chunk.byteLength;
    this.#chunks.push(chunk);
    return true;
  }

  /** All of it, in memory of its own: a chunk may be a small part of a large buffer. */
  bytes(): Uint8Array {
    const whole = new Uint8Array(this.#size);
    let at = 0;
    for (const chunk of this.#chunks.splice(0)) {
      whole.set(chunk, at);
      at += chunk.byteLength;
    }
    return whole;
  }

  /** Gives the memory back, and takes no more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#chunks.length = 0;
    this.#budget.give(this.#size);
  }
}
