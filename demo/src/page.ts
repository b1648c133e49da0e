/** Where the live page of the receiver with the middleware is. */
export const PAGE_PATH = '/backpressure';

/**
 * Who may see the live page of the demo: the servers listen on the loopback address only, and the name excludes pages of
 * other sites whose name leads to this machine.
 */
export function isFromThisMachine({ url }: Request): boolean {
  return ['127.0.0.1', 'localhost'].includes(new URL(url).hostname);
}
