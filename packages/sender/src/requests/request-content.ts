import type { StoredDelivery } from '@webhook-backpressure/inbox';

/** The parts of a request beside the signature. */
export interface RequestContent {
  /** The `webhook-id`. */
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** An event, as far as a request contains it. */
export type StoredEvent = Pick<StoredDelivery, 'id' | 'headers' | 'rawBody' | 'receivedAtMs'>;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `{"type":` */
const TYPE_AT = 8;
const DEFAULT_HEADERS = { 'content-type': 'application/json', 'user-agent': 'webhook-backpressure' };
/** `,"timestamp":"2026-11-22T00:00:00.000Z"` */
const TIMESTAMP_BYTES = 39;
/** From then on, a year takes seven characters. */
const YEAR_10000_MS = 253_402_300_800_000;
const encoder = new TextEncoder();

/** The request of a single event: `{"type","timestamp","data"}`, the same at each attempt. */
export function eventContent(event: StoredEvent): RequestContent {
  return {
    id: event.id,
    headers: { ...DEFAULT_HEADERS, ...event.headers },
    body: Buffer.concat(partsOf(event, '')),
  };
}

/**
 * The request of a batch: `{"events":[{"id","type","timestamp","data"},…]}`. All events have the same headers.
 *
 * @param id - of the batch.
 * @param events - at least one.
 */
export function batchContent(id: string, events: readonly [StoredEvent, ...StoredEvent[]]): RequestContent {
  const parts: Uint8Array[] = [];
  for (const event of events) {
    const lead = parts.length === 0 ? '{"events":[' : ',';
    parts.push(encoder.encode(lead), ...partsOf(event, `"id":${JSON.stringify(event.id)},`));
  }
  return {
    id,
    headers: { ...DEFAULT_HEADERS, ...events[0].headers },
    body: Buffer.concat([...parts, encoder.encode(']}')]),
  };
}

/** How many bytes an event takes in the body of a batch, the comma included. Never throws, also for a damaged time. */
export function bytesInBatch({ id, rawBody, receivedAtMs }: StoredEvent): number {
  const timestampBytes = receivedAtMs < YEAR_10000_MS ? TIMESTAMP_BYTES : TIMESTAMP_BYTES + 3;
  return rawBody.byteLength + JSON.stringify(id).length + timestampBytes + 7;
}

/** `{"events":[` and `]}`, without the first comma. */
export const BYTES_OF_BATCH = 12;

/** The stored bytes are used as they are: parsing and printing them again would cost more than the signature. */
function partsOf(event: StoredEvent, lead: string): readonly Uint8Array[] {
  const { rawBody, receivedAtMs } = event;
  // Behind the JSON string that is the type.
  let end = TYPE_AT + 1;
  while (end < rawBody.byteLength && rawBody[end] !== QUOTE) end += rawBody[end] === BACKSLASH ? 2 : 1;
  end += 1;
  return [
    encoder.encode(`{${lead}`),
    rawBody.subarray(1, end),
    encoder.encode(`,"timestamp":"${new Date(receivedAtMs).toISOString()}"`),
    rawBody.subarray(end),
  ];
}
