import { connect } from 'node:net';
import { answer } from '../pinned.ts';
import type { Acknowledged } from './load-child.ts';
import { BODY, headersOf, idAt, isAcknowledged } from './sample.ts';

const SENDERS = 64;
/** How often the probe requests the receiver's health. */
const LOOK_MS = 20;
/** Without an answer by then the probe takes the receiver for dead. */
const HEALTH_TIMEOUT_MS = 1000;

interface Question {
  readonly port: number;
  readonly seconds: number;
  /** Of the body; by default as it comes. */
  readonly bodyBytes?: number;
}

/** What senders met that open a connection for each delivery, as a proxy in front of the receiver does by default. */
export interface Met extends Acknowledged {
  /** Health checks that were not answered within a second. */
  readonly dead: number;
}

let sent = 0;

answer(async ({ port, seconds, bodyBytes }: Question): Promise<Met> => {
  const body = bodyBytes === undefined ? BODY : 'x'.repeat(bodyBytes);
  const end = performance.now() + seconds * 1000;
  let [accepted, other, dead, inFlight] = [0, 0, 0, 0];
  const send = async (): Promise<void> => {
    while (performance.now() < end) {
      const status = await ask(port, requestOf('POST', '/webhooks', headersOf(idAt((sent += 1))), body));
      if (performance.now() > end) inFlight += isAcknowledged(status) ? 1 : 0;
      else if (isAcknowledged(status)) accepted += 1;
      else other += 1;
    }
  };
  const look = async (): Promise<void> => {
    while (performance.now() < end) {
      const beganMs = performance.now();
      const status = await ask(port, requestOf('GET', '/healthz', {}, ''));
      if (status !== 200 || performance.now() - beganMs > HEALTH_TIMEOUT_MS) dead += 1;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  };
  await Promise.all([look(), ...Array.from({ length: SENDERS }, send)]);
  return { accepted, other, dead, inFlight, perSecond: accepted / seconds };
});

function requestOf(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const all = { ...headers, host: 'receiver', connection: 'close', 'content-length': String(body.length) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n');
}

/** One request on a new connection. @returns its status, or 0 if there was no answer. */
function ask(port: number, request: string): Promise<number> {
  return new Promise((resolve) => {
    let head = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      head += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0));
    });
  });
}
