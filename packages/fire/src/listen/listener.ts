import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { HMAC_SENDERS } from '@webhook-backpressure/inbox/tool';
import { builtInSenders, createRecognition, idOf, known } from '@webhook-backpressure/senders';

/** What has come from one sender. */
export interface Received {
  requests: number;
  /** Different ids. */
  events: number;
  /** Requests with an id that had come before. */
  repeated: number;
  bytes: number;
}

/** More of a body is not kept. */
const MAX_BODY_BYTES = 1_048_576;
/** After so many ids, those of new deliveries are no longer remembered. */
const MAX_IDS = 1_000_000;

const recognition = createRecognition(builtInSenders);

/** A receiver that answers 200 to everything, and counts what came. */
export class Listener {
  /** By name of the sender; `unknown` for all others. */
  readonly received: Record<string, Received> = {};
  readonly server: Server;
  readonly #ids = new Map<string, number>();
  readonly #print: (line: string) => void;

  /** @param print - gets a line for each request. */
  constructor(print: (line: string) => void) {
    this.#print = print;
    this.server = createServer((request, response) => {
      this.#receive(request, response);
    });
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      if (bytes < MAX_BODY_BYTES) chunks.push(chunk);
      bytes += chunk.byteLength;
    });
    request.on('end', () => {
      this.#note(request, Buffer.concat(chunks), bytes);
      response.end();
    });
    // The sender has disconnected; it will come again.
    request.on('error', () => undefined);
  }

  #note({ method = '', url = '', headers }: IncomingMessage, body: Buffer, bytes: number): void {
    const profile = recognition.find(headers);
    const sender = profile?.name ?? 'unknown';
    const id = (profile === undefined ? undefined : idOf(profile, headers)) ?? idIn(sender, body);
    const received = (this.received[sender] ??= { requests: 0, events: 0, repeated: 0, bytes: 0 });
    received.requests += 1;
    received.bytes += bytes;
    const name = `${sender} ${id ?? ''}`;
    const times = id === undefined ? 1 : (this.#ids.get(name) ?? 0) + 1;
    if (times > 1) received.repeated += 1;
    else received.events += 1;
    if (id !== undefined && (times > 1 || this.#ids.size < MAX_IDS)) this.#ids.set(name, times);
    const again = times > 1 ? `, time ${String(times)}` : '';
    this.#print(`${method} ${url} ${sender} ${id ?? 'without an id'}, ${String(bytes)} bytes${again}`);
  }
}

/** The id in the body, where the sender's verifier finds it. */
function idIn(sender: string, body: Buffer): string | undefined {
  const [name = ''] = Object.entries(known).find(([, profile]) => profile.name === sender) ?? [];
  const path = HMAC_SENDERS[name]?.id ?? 'id';
  try {
    const found = path
      .split('.')
      .reduce(
        (at: unknown, key) => (at as Record<string, unknown> | undefined)?.[key],
        JSON.parse(body.toString()),
      );
    return typeof found === 'string' ? found : undefined;
  } catch {
    return undefined;
  }
}
