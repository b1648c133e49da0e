import { onTestFinished } from 'vitest';
import type { Answer, OutgoingRequest, Requester } from '../../../packages/sender/src/requests/request.ts';
import { fetchRequester } from '../../../packages/sender/src/requests/fetch-requester.ts';
import {
  undiciRequester,
  type UndiciRequesterOptions,
} from '../../../packages/sender/src/requests/undici-requester.ts';

export function requester(options: Partial<UndiciRequesterOptions> = {}): Requester {
  const made = undiciRequester({ allowPrivateAddresses: true, ...options });
  onTestFinished(() => made.close());
  return made;
}

/** Both ways to make requests. */
export const bothRequesters: readonly (readonly [string, () => Requester])[] = [
  ['undici', requester],
  ['fetch', () => fetchRequester(fetch, { allowPrivateAddresses: true })],
];

export function request(port: number, changes: Partial<OutgoingRequest> = {}): OutgoingRequest {
  return {
    method: 'POST',
    url: new URL(`http://127.0.0.1:${String(port)}/hooks?a=1`),
    headers: { 'content-type': 'application/json' },
    body: new TextEncoder().encode('{"a":1}'),
    signal: new AbortController().signal,
    ...changes,
  };
}

export function textOf(answer: Answer): string {
  return new TextDecoder().decode(answer.body);
}

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
