import type { IncomingMessage } from 'node:http';
import type { BodyEnd, BodySink, InboxRequest } from '@webhook-backpressure/inbox';
import { originalUrl } from './messages.ts';

/**
 * Converts a request of node:http for `inbox.receive`.
 *
 * @param known - what only the framework knows. `url`: the URL before the framework changed it.
 */
export function inboxRequest(
  req: IncomingMessage,
  { url = req.url, ...known }: Pick<InboxRequest, 'hint' | 'params' | 'source' | 'url'>,
): InboxRequest {
  const { method, headers } = req;
  return { method, url: originalUrl(req) ?? url, headers, read: (body) => read(req, body), ...known };
}

function read(req: IncomingMessage, body: BodySink): Promise<BodyEnd> {
  const bytes = bytesReadBefore(req);
  if (bytes !== undefined) {
    body.add(bytes);
    return Promise.resolve('whole');
  }
  if (req.readableDidRead) return Promise.resolve('consumed');
  // The end of an empty body was already emitted, and is not emitted again. Nothing is lost.
  if (req.readableEnded) return Promise.resolve('whole');
  if (req.destroyed) return Promise.resolve('gone');
  return new Promise((resolve) => {
    const end = (result: 'whole' | 'gone'): void => {
      req.off('data', add).off('end', whole).off('close', gone).off('error', gone);
      resolve(result);
    };
    const add = (chunk: Uint8Array): void => {
      if (!body.add(chunk)) end('whole');
    };
    const whole = (): void => {
      end('whole');
    };
    const gone = (): void => {
      end('gone');
    };
    req.on('data', add).on('end', whole).on('close', gone).on('error', gone);
    // An earlier listener may have paused it.
    req.resume();
  });
}

/** The unparsed bytes, if an earlier reader kept them: `express.raw`, or a serverless host. */
function bytesReadBefore(req: IncomingMessage): Uint8Array | undefined {
  const { rawBody, body } = req as { rawBody?: unknown; body?: unknown };
  if (rawBody instanceof Uint8Array) return rawBody;
  return body instanceof Uint8Array ? body : undefined;
}
