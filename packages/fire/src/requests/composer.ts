import type { Random } from '@webhook-backpressure/planner/parts';
import { bodyOf, idFormOf } from '../samples/bodies.ts';
import { idsLike } from '../samples/ids.ts';
import { sampleOf } from '../samples/samples.ts';
import type { Signer } from '../signing/signer.ts';

/** A request that is ready to be sent. */
export interface Composed {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The client writes these. */
const OF_THE_CLIENT = ['content-length', 'transfer-encoding', 'host'];

/** Headers that differ by event in another way than its id. */
const OWN_ID = /(?:^ce|event|request|transmission|invocation|delivery|message)-?(?:uu)?id$/i;

type ByAttempt = (retries: number, sample: string) => string | undefined;

const fromZero: ByAttempt = (retries) => String(retries);
const fromOne: ByAttempt = (retries) => String(retries + 1);
const ofRetries: ByAttempt = (retries) => (retries === 0 ? undefined : String(retries));
const reason: ByAttempt = (retries, sample) => (retries === 0 ? undefined : sample);

/** Headers that count the attempts, and those that only a retry has. */
const BY_ATTEMPT: ReadonlyMap<string, ByAttempt> = new Map([
  ['x-attempt-number', fromOne],
  ['x-hookdeck-attempt-count', fromOne],
  ['aeg-delivery-count', fromZero],
  ['twitch-eventsub-message-retry', fromZero],
  ['x-slack-retry-num', ofRetries],
  ['x-slack-retry-reason', reason],
  ['square-retry-number', ofRetries],
  ['square-retry-reason', reason],
]);

type Header = readonly [name: string, valueOf: (i: number, retries: number) => string | undefined];

/** Composes the requests of one sender: those of a delivery have the same id and body, and are signed anew. */
export class Composer {
  readonly #url: URL;
  readonly #signer: Signer;
  readonly #wallClock: () => number;
  readonly #idOf: (i: number) => string;
  readonly #headers: readonly Header[];
  readonly #body: readonly string[];

  constructor(sender: string, url: URL, signer: Signer, random: Random, wallClock: () => number) {
    const { headers, id } = sampleOf(sender);
    const idForm = id ?? idFormOf(sender);
    this.#url = url;
    this.#signer = signer;
    this.#wallClock = wallClock;
    this.#idOf = idsLike(idForm, random);
    this.#headers = Object.entries(headers)
      .filter(([name]) => !OF_THE_CLIENT.includes(name.toLowerCase()))
      .map(([name, value]) => [name, this.#valueOf(name, value, id, random)]);
    this.#body = bodyOf(sender, idForm, wallClock()).split(/(\{(?:id|now)\})/);
  }

  #valueOf(name: string, value: string, id: string | undefined, random: Random): Header[1] {
    const byAttempt = BY_ATTEMPT.get(name.toLowerCase());
    if (byAttempt !== undefined) return (_, retries) => byAttempt(retries, value);
    if (value === id) return this.#idOf;
    return OWN_ID.test(name) ? idsLike(value, random) : () => value;
  }

  /** @param retries - how many attempts came before. */
  compose(i: number, retries: number): Composed {
    const nowMs = this.#wallClock();
    const id = this.#idOf(i);
    const text = this.#body.map((part) => (part === '{id}' ? id : part === '{now}' ? String(nowMs) : part));
    const body = Buffer.from(text.join(''));
    const lower: Record<string, string> = {};
    const named = new Map<string, string>();
    for (const [name, valueOf] of this.#headers) {
      const value = valueOf(i, retries);
      if (value === undefined) continue;
      named.set(name.toLowerCase(), name);
      lower[name.toLowerCase()] = value;
    }
    const { origin, pathname, search } = this.#url;
    const signature = this.#signer.sign({
      headers: lower,
      rawBody: body,
      url: pathname + search,
      origin,
      nowMs,
    });
    const all = Object.entries({ ...lower, ...signature });
    return {
      body,
      headers: Object.fromEntries(all.map(([name, value]) => [named.get(name) ?? name, value])),
    };
  }
}
