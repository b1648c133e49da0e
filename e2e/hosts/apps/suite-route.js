import './built-inbox.js';

/** Passes a request to the handler of the running test, which the conformance suite has in this process. */
export function route(source) {
  const request = source instanceof Request ? source : (source.request ?? source.req);
  return globalThis.suiteRoutes.get(request.headers.get('x-receiver'))(request);
}
