import { BackpressureError, type Awaitable, invalidResult, isRecord, show } from '@webhook-backpressure/base';
import type { Json } from '@webhook-backpressure/inbox';

/** What the handlers get of an event. */
export interface EventContent {
  /** Headers, with names in any case. By default the inbox recognizes the sender and the id from them. Default none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body. A string is stored as UTF-8. */
  readonly body: string | Uint8Array;
}

/** An event that a sender could not deliver. */
export interface FoundEvent {
  /** The delivery id, if neither the headers nor the options `id` and `verify` of the inbox have one: 1 to 256 characters. */
  readonly id: string;
  /** When it happened or was sent, by the clock of the sender. */
  readonly at: Date;
  /** The name of the sender, if the headers do not tell it: 1 to 256 characters. */
  readonly sender?: string | undefined;
  /** The key, if the options of the inbox give none: 1 to 256 characters. Default: the sender, else `default`. */
  readonly key?: string | undefined;
  /** What handlers and `keyGenerator` get as `context`: a JSON value. Default null. */
  readonly context?: Json | undefined;
  /** See {@link EventContent}. */
  readonly headers?: EventContent['headers'];
  /** See {@link EventContent}. Absent: `load` fetches it. */
  readonly body?: EventContent['body'] | undefined;
  /**
   * Fetches headers and body. It is called once the inbox was found not to have the event, so a list without bodies costs a
   * request for each missed event only. `requested`: the sender was asked to deliver it again. It is required if `body` is
   * absent. If it rejects, the next run asks for the event again.
   */
  readonly load?: (() => Promise<EventContent | 'requested'>) | undefined;
}

/** What a source can use. */
export interface SourceTools {
  /** Aborted when the reconciler closes. */
  readonly signal: AbortSignal;
  /**
   * A `fetch` for the API: at most 8 requests a second to each origin, fewer if its answers ask for that; a 429 is repeated
   * after its `Retry-After`, and a GET that was answered by 5xx or not at all twice, after about 1 s and 5 s. An answer has
   * 30 s and 64 MiB.
   */
  readonly fetch: typeof globalThis.fetch;
}

/**
 * Lists the events that a sender could not deliver, or all of them, since a time: by its own clock, in any order, and more
 * than once if that is simpler. What it throws ends the run, and the next run begins at the same time.
 */
export type Source = (since: Date, tools: SourceTools) => AsyncIterable<FoundEvent>;

/** @throws what the source throws, and BackpressureError `ERR_WBP_RECONCILE_SOURCE` if it returns anything else. */
export function eventsOf(source: Source, since: Date, tools: SourceTools): AsyncIterator<unknown> {
  const events = source(since, tools) as Partial<AsyncIterable<unknown>> | undefined;
  const iterator = events?.[Symbol.asyncIterator]?.();
  if (iterator !== undefined) return iterator;
  throw invalidResult(
    'ERR_WBP_RECONCILE_SOURCE',
    'source',
    'an async iterable, as async function* does',
    events,
  );
}

/** @throws BackpressureError `ERR_WBP_RECONCILE_SOURCE` if a source yields anything else. */
export function checkFound(event: unknown): asserts event is FoundEvent {
  if (isRecord(event)) {
    const { id, at, body, load } = event;
    const isTimed = at instanceof Date && !Number.isNaN(at.getTime());
    const hasBody = typeof body === 'string' || body instanceof Uint8Array || typeof load === 'function';
    if (typeof id === 'string' && isTimed && hasBody) return;
  }
  const rule = 'objects with id, at (a Date) and either body or load()';
  throw new BackpressureError(
    'ERR_WBP_RECONCILE_SOURCE',
    `source() must yield ${rule}, but yielded ${isRecord(event) ? 'another object' : show(event)}.`,
  );
}

/** @throws BackpressureError `ERR_WBP_RECONCILE_SOURCE` if `load` resolves to anything else. */
export function checkedContent(content: unknown): EventContent | 'requested' {
  if (content === 'requested') return content;
  if (isRecord(content) && (typeof content['body'] === 'string' || content['body'] instanceof Uint8Array))
    return content as unknown as EventContent;
  throw invalidResult(
    'ERR_WBP_RECONCILE_SOURCE',
    'load',
    'an object with a body, or "requested"',
    isRecord(content) ? Object.keys(content) : content,
  );
}

/** A secret, or a function that returns it for each request, such as one that signs the JWT of a GitHub App. */
export type Credential = string | (() => Awaitable<string>);
