import type { BodySink } from '../inbox.ts';

/** What all bodies that are being received may take together: they are in memory until they are committed. */
const BUDGET_BYTES = 64 * 1024 * 1024;
/** A body that is not whole so long after its first byte makes way for others when the budget is used up. */
const QUICK_MS = 250;
/** What keeping a chunk takes beside its bytes: in chunks of one byte a body takes hundreds of times its size. */
const BYTES_PER_CHUNK = 256;
/** A body of the largest size finds a place, alone at least, in chunks of a kibibyte and more. */
const CHUNKED = 1 + BYTES_PER_CHUNK / 1024;

/**
 * Bounds the bodies that are in memory at once. When the budget is used up, the body that began first and is still
 * not whole is cut off, if it had its time: whoever sends slowly cannot lock out the others. Among those that came
 * within that time the newcomer is refused, since otherwise each would be cut off by the next and none be whole.
 */
export class BodyBudget {
  readonly #maxBodyBytes: () => number;
  readonly #now: () => number;
  #used = 0;
  /** The bodies that are not whole, in the order of their first bytes. */
  #first: BodyCollector | null = null;
  #last: BodyCollector | null = null;

  /** @param maxBodyBytes - of one: it must find a place, alone at least. */
  constructor(maxBodyBytes: () => number, now: () => number) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#now = now;
  }

  /** Makes room for more bytes of a body. False when there is none. */
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

  /** The body is whole: it will not be cut off any more. */
  leave(body: BodyCollector): void {
    if (body.older === null && this.#first !== body) return;
    if (body.older === null) this.#first = body.newer;
    else body.older.newer = body.newer;
    if (body.newer === null) this.#last = body.older;
    else body.newer.older = body.older;
    body.older = body.newer = null;
  }

  give(body: BodyCollector): void {
    this.leave(body);
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

/** Collects the bytes of a body as they come, up to a limit. */
export class BodyCollector implements BodySink {
  /** Of the budget. */
  taken = 0;
  /** When its first bytes came. */
  beganMs = 0;
  /** Its neighbours among those that are not whole. */
  older: BodyCollector | null = null;
  newer: BodyCollector | null = null;
  readonly #maxBytes: number;
  readonly #budget: BodyBudget;
  readonly #onCutOff: () => void;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #isClosed = false;
  #trouble: 'too-large' | 'overloaded' | undefined;

  /** @param onCutOff - called when it has to make way for others, and has been closed for that. */
  constructor(maxBytes: number, budget: BodyBudget, onCutOff: () => void) {
    this.#maxBytes = maxBytes;
    this.#budget = budget;
    this.#onCutOff = onCutOff;
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
    else if (!this.#budget.take(this, chunk.byteLength + BYTES_PER_CHUNK)) this.#trouble = 'overloaded';
    if (this.#trouble !== undefined) return false;
    this.#size += chunk.byteLength;
    this.#chunks.push(chunk);
    return true;
  }

  /** All of it, in memory of its own: a chunk may be a small part of a large buffer. */
  bytes(): Uint8Array {
    this.#budget.leave(this);
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

  /** Gives the memory back, and takes no more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#chunks.length = 0;
    this.#budget.give(this);
  }
}
