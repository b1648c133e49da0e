import { DAY_MS, invalid, type Signal } from '@webhook-backpressure/base';
import { UndecidedError, VerificationError } from './signatures.ts';

/** The part of a response that is read. */
export interface KeyResponse {
  /** Only 200 counts. */
  readonly status: number;
  /** At most 65,536 bytes are read. */
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
      cancel(): Promise<unknown>;
    };
  } | null;
}

/** A function that gets a URL, such as the global `fetch`. */
export type KeyFetch = (
  url: string,
  init: { readonly redirect: 'manual'; readonly signal: Signal },
) => Promise<KeyResponse>;

interface TimeoutSignal {
  addEventListener(type: 'abort', listener: () => void, options: { readonly once: true }): void;
}

declare const AbortSignal: { timeout(ms: number): Signal & TimeoutSignal };
declare const TextDecoder: new () => { decode(bytes: Uint8Array): string };

const MAX_BYTES = 65_536;
const TIMEOUT_MS = 5000;
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
/** After this time a key is fetched again, so that one that its owner withdrew is not trusted forever. */
const MAX_AGE_MS = 3_600_000;
/** For so long an old key counts while a new one cannot be fetched: an outage of a key server is to lose nothing. */
const MAX_STALE_MS = DAY_MS;
/** How many names without a valid signature are remembered. */
const MAX_NAMES = 16;
/** How many keys can be fetched before the limit of one a second. Senders use one or two. */
const BURST = 4;

/** The key server says that there is no such key, also if there was one. */
class WithdrawnError extends UndecidedError {}

interface Known<Key> {
  readonly key: Promise<Key>;
  readonly atMs: number;
  /** The last attempt to fetch it again. It resolves to the old key if the server fails. */
  next?: { readonly key: Promise<Key>; readonly atMs: number };
  hasVerified: boolean;
}

/**
 * Keys that are fetched when a request names them, and cached. Anyone can send requests with new names, so at most four
 * keys are fetched, and then one a second. Until then, a request with an unknown name is undecided. A key that has
 * verified a signature is neither forgotten nor limited, so that such requests cannot displace it.
 */
export class RemoteKeys<Key> {
  readonly #load: (name: string, signal: Signal) => Promise<Key>;
  readonly #wallClock: () => number;
  /** The oldest first. */
  readonly #known = new Map<string, Known<Key>>();
  #tokens = BURST;
  #filledAtMs = -Infinity;

  /** @param load - may reject with a VerificationError if there is no such key; with any other error it is undecided. */
  constructor(load: (name: string, signal: Signal) => Promise<Key>, wallClock: () => number) {
    this.#load = load;
    this.#wallClock = wallClock;
  }

  /** Checks a signature with the key of this name, which is fetched if it is unknown or older than an hour. */
  async check(name: string, check: (key: Key) => Promise<true>): Promise<true> {
    await check(await this.get(name));
    const known = this.#known.get(name);
    if (known !== undefined) known.hasVerified = true;
    return true;
  }

  /** The key of this name, fetched if it is unknown or older than an hour. */
  get(name: string): Promise<Key> {
    return this.#fetched(name, MAX_AGE_MS);
  }

  /** The key of this name, fetched if it is older than a minute: for a name whose key may have changed. */
  renewed(name: string): Promise<Key> {
    return this.#fetched(name, MINUTE_MS);
  }

  async #fetched(name: string, maxAgeMs: number): Promise<Key> {
    const nowMs = this.#wallClock();
    const known = this.#known.get(name);
    if (known !== undefined && Math.abs(nowMs - known.atMs) < maxAgeMs) return known.key;
    if (known?.next !== undefined && Math.abs(nowMs - known.next.atMs) < MINUTE_MS) return known.next.key;
    if (!known?.hasVerified && !this.#take(nowMs)) {
      if (known !== undefined && isUsable(known, nowMs)) return known.key;
      throw new UndecidedError('The key of the signature is unknown, and too many were fetched.');
    }
    const key = this.#loaded(name);
    if (known === undefined) {
      this.#add(name, { key, atMs: nowMs, hasVerified: false });
      key.catch(() => this.#known.delete(name));
      return key;
    }
    known.next = { key: this.#replacing(name, known, key, nowMs), atMs: nowMs };
    return known.next.key;
  }

  async #replacing(name: string, known: Known<Key>, key: Promise<Key>, nowMs: number): Promise<Key> {
    try {
      await key;
      this.#known.set(name, { key, atMs: nowMs, hasVerified: known.hasVerified });
      return await key;
    } catch (error) {
      const isOutage = error instanceof UndecidedError && !(error instanceof WithdrawnError);
      if (isOutage && isUsable(known, nowMs)) return known.key;
      this.#known.delete(name);
      throw error;
    }
  }

  #add(name: string, known: Known<Key>): void {
    this.#known.set(name, known);
    const strange = [...this.#known].filter(([, { hasVerified }]) => !hasVerified);
    const [oldest] = strange[0] as [string, unknown];
    if (strange.length > MAX_NAMES) this.#known.delete(oldest);
  }

  async #loaded(name: string): Promise<Key> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      // The function is the user's, and may ignore its signal.
      return await Promise.race([this.#load(name, signal), untilAborted(signal)]);
    } catch (error) {
      if (error instanceof VerificationError) throw error;
      throw new UndecidedError('The key of the signature could not be fetched.');
    }
  }

  #take(nowMs: number): boolean {
    const seconds = Math.floor((nowMs - this.#filledAtMs) / SECOND_MS);
    if (seconds !== 0) {
      // Also after the clock was set back.
      this.#tokens = Math.min(BURST, this.#tokens + Math.max(seconds, 0));
      this.#filledAtMs = nowMs;
    }
    if (this.#tokens === 0) return false;
    this.#tokens -= 1;
    return true;
  }
}

function isUsable({ atMs }: Known<unknown>, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) < MAX_STALE_MS;
}

function untilAborted(signal: TimeoutSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => {
      reject(new UndecidedError('The key of the signature was not fetched in time.'));
    };
    signal.addEventListener('abort', abort, { once: true });
  });
}

/** The text at a URL. Redirects are not followed, since only this host is trusted. */
export async function textAt(fetch: KeyFetch, url: string, signal: Signal): Promise<string> {
  const { status, body } = await fetch(url, { redirect: 'manual', signal });
  if (status === 404 || status === 410)
    throw new WithdrawnError(`The key server answered ${String(status)}: it has no such key.`);
  const reader = body?.getReader();
  if (status !== 200 || reader === undefined)
    throw new UndecidedError(`The key server answered ${String(status)}.`);
  const bytes = new Uint8Array(MAX_BYTES);
  for (let size = 0; ;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return new TextDecoder().decode(bytes.subarray(0, size));
    if (size + value.byteLength > MAX_BYTES) {
      reader.cancel().catch(() => undefined);
      throw new UndecidedError(`The key server sent more than ${String(MAX_BYTES)} bytes.`);
    }
    bytes.set(value, size);
    size += value.byteLength;
  }
}

/** @throws BackpressureError `ERR_WBP_VERIFIER` unless `given` is a function. */
export function checkedFetch(given: unknown, name = 'fetch'): KeyFetch {
  if (typeof given !== 'function') throw invalid('ERR_WBP_VERIFIER', name, 'a function', given);
  return given as KeyFetch;
}
