import type { BodySink } from './inbox-request.ts';

/** The memory of all bodies that are being received, which hold it until they are committed. */
const BUDGET_BYTES = 64 * 1024 * 1024;
/** When the budget is used up, a body that is still incomplete after this time may be cut off. */
const QUICK_MS = 250;
/** Overhead of a chunk: in chunks of one byte a body takes hundreds of times its size. */
const BYTES_PER_CHUNK = 256;
/** With this factor the largest body fits the budget alone, if its chunks have 1 KiB or more. */
const CHUNKED = 1 + BYTES_PER_CHUNK / 1024;

/**
 * Bounds the memory of all bodies. When the budget is used up, the oldest incomplete body is cut off if it is older than
 * 250 ms, so that slow senders cannot lock out others. If none is, the new body is refused: otherwise each body would
 * be cut off by the next, and none would complete.
 */
export class BodyBudget {
  readonly #maxBodyBytes: () => number;
  readonly #now: () => number;
  #used = 0;
  /** The incomplete bodies, a linked list in the order of their first bytes. */
  #first: BodyCollector | null = null;
  #last: BodyCollector | null = null;

  /** @param maxBodyBytes - the largest body, which must fit at least alone. */
  constructor(maxBodyBytes: () => number, now: () => number) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#now = now;
  }

  /** Reserves memory for more bytes of a body. Returns false when there is none. */
  take(body: BodyCollector, bytes: number): boolean {
    const nowMs = this.#now();
    const most = Math.max(BUDGET_BYTES, this.#maxBodyBytes() * CHUNKED);
    while (this.#used + bytes > most) {
      const oldest = this.#first;
      if (oldest === null || oldest === body || nowMs - oldest.beganMs < QUICK_MS) return false;
      oldest.cutOff();
    }
    this.#used += bytes;
    if (body.taken === 0) this.#append(body, nowMs);
    body.taken += bytes;
    return true;
  }

  /** The body is complete: it is not cut off any more. */
  complete(body: BodyCollector): void {
    if (body.older === null && this.#first !== body) return;
    if (body.older === null) this.#first = body.newer;
    else body.older.newer = body.newer;
    if (body.newer === null) this.#last = body.older;
    else body.newer.older = body.older;
    body.older = body.newer = null;
  }

  /** Releases the memory of a body. */
  release(body: BodyCollector): void {
    this.complete(body);
    this.#used -= body.taken;
  }

  #append(body: BodyCollector, nowMs: number): void {
    body.beganMs = nowMs;
    body.older = this.#last;
    if (this.#last === null) this.#first = body;
    else this.#last.newer = body;
    this.#last = body;
  }
}

/** Collects the bytes of a body as they arrive, up to a limit. */
export class BodyCollector implements BodySink {
  /** Memory that the budget has reserved for it. */
  taken = 0;
  /** When its first bytes arrived. */
  beganMs = 0;
  /** Its neighbors in the list of incomplete bodies. */
  older: BodyCollector | null = null;
  newer: BodyCollector | null = null;
  readonly #maxBytes: number;
  readonly #budget: BodyBudget;
  readonly #onCutOff: () => void;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #isClosed = false;
  #trouble: 'too-large' | 'overloaded' | undefined;

  /** @param onCutOff - called after the budget has cut this body off. */
  constructor(maxBytes: number, budget: BodyBudget, onCutOff: () => void) {
    this.#maxBytes = maxBytes;
    this.#budget = budget;
    this.#onCutOff = onCutOff;
  }

  /** Why no more bytes are wanted, if so. */
  get trouble(): 'too-large' | 'overloaded' | undefined {
    return this.#trouble;
  }

  /** Whether a body of this Content-Length is read at all. */
  expect(contentLength: string | undefined): boolean {
    if (Number(contentLength) > this.#maxBytes) this.#trouble = 'too-large';
    return this.#trouble === undefined;
  }

  /** Adds the next bytes. Returns false when no more are wanted: the reader stops. */
  add(chunk: Uint8Array): boolean {
    if (this.#isClosed || this.#trouble !== undefined) return false;
    if (this.#size + chunk.byteLength > this.#maxBytes) this.#trouble = 'too-large';
    else if (!this.#budget.take(this, chunk.byteLength + BYTES_PER_CHUNK)) this.#trouble = 'overloaded';
    if (this.#trouble !== undefined) return false;
    this.#size += chunk.byteLength;
    this.#chunks.push(chunk);
    return true;
  }

  /** The whole body, copied: a chunk may be a small part of a large buffer. */
  bytes(): Uint8Array {
    this.#budget.complete(this);
    const whole = new Uint8Array(this.#size);
    let at = 0;
    for (const chunk of this.#chunks.splice(0)) {
      whole.set(chunk, at);
      at += chunk.byteLength;
    }
    return whole;
  }

  cutOff(): void {
    this.close();
    this.#onCutOff();
  }

  /** Releases the memory and accepts no more bytes. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#chunks.length = 0;
    this.#budget.release(this);
  }
}
