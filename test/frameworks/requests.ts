/** A request and its purpose. */
export interface Asked {
  readonly name: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' };

/** Each app handles the requests that its framework has a feature for, and leaves the rest to its framework. */
export const requests: readonly Asked[] = [
  { name: 'text', path: '/text' },
  { name: 'HEAD of a route for GET', method: 'HEAD', path: '/text' },
  { name: 'HEAD of a stream', method: 'HEAD', path: '/stream' },
  { name: 'OPTIONS', method: 'OPTIONS', path: '/text' },
  { name: 'a method without a route', method: 'DELETE', path: '/text' },
  { name: 'a path without a route', path: '/nowhere' },
  {
    name: 'a path without a route, with a body',
    method: 'POST',
    path: '/nowhere',
    body: 'x'.repeat(100_000),
  },
  { name: 'a path that cannot be decoded', path: '/users/%E0%A4%A' },
  { name: 'parameters and query', path: '/users/7%20a?verbose=1&x=a&x=b' },
  { name: 'a mounted part', path: '/part/inner/deep?x=1' },
  { name: 'a mounted part without a match', path: '/part/nowhere' },
  { name: 'several handlers', path: '/chain' },
  { name: 'a fresh response', path: '/text', headers: { 'If-None-Match': '*' } },
  { name: 'content negotiation: JSON', path: '/negotiate', headers: { Accept: 'application/json' } },
  { name: 'content negotiation: HTML', path: '/negotiate', headers: { Accept: 'text/html' } },
  { name: 'content negotiation: neither', path: '/negotiate', headers: { Accept: 'image/png' } },
  { name: 'a redirect', path: '/redirect' },
  { name: 'cookies', path: '/cookies', headers: { Cookie: 'seen=1; other=%20' } },
  { name: 'no content', path: '/empty' },
  { name: 'a status only', path: '/teapot' },
  { name: 'bytes', path: '/bytes' },
  { name: 'a stream', path: '/stream' },
  { name: 'a stream that fails after its start', path: '/broken-stream' },
  { name: 'a file', path: '/file' },
  { name: 'a range of a file', path: '/file', headers: { Range: 'bytes=2-9' } },
  { name: 'a missing file', path: '/missing-file' },
  { name: 'a delayed response', path: '/later' },
  { name: 'a thrown error', path: '/throws' },
  { name: 'a rejection', path: '/rejects' },
  { name: 'an error with a status', path: '/refuses' },
  { name: 'an error handler that fails', path: '/throws?twice' },
  { name: 'a JSON body', method: 'POST', path: '/json', headers: JSON_TYPE, body: '{"a":[1,"ü"]}' },
  { name: 'a broken JSON body', method: 'POST', path: '/json', headers: JSON_TYPE, body: '{"a":' },
  { name: 'an empty body', method: 'POST', path: '/json', headers: JSON_TYPE, body: '' },
  {
    name: 'a body above the limit',
    method: 'POST',
    path: '/json',
    headers: JSON_TYPE,
    body: `"${'a'.repeat(200_000)}"`,
  },
  { name: 'a form', method: 'POST', path: '/form', headers: FORM_TYPE, body: 'a=1&b=%20x&a=2' },
  { name: 'a raw body of 300 KB', method: 'PUT', path: '/raw', body: 'ü'.repeat(150_000) },
  { name: 'an unread body', method: 'POST', path: '/unread', body: 'x'.repeat(1000) },
  {
    name: 'a body in chunks',
    method: 'POST',
    path: '/raw',
    headers: { 'Transfer-Encoding': 'chunked' },
    body: 'abc',
  },
  {
    name: 'Expect: 100-continue',
    method: 'POST',
    path: '/raw',
    headers: { Expect: '100-continue' },
    body: 'abc',
  },
  { name: 'headers set before and after', path: '/headers' },
  { name: 'a response that bypasses the framework', path: '/direct' },
];
