import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from '../answers/answers.ts';
import type { Handler } from '../requests/handler.ts';
import { incomingFrom } from './node-request.ts';
import { send } from './node-response.ts';

/** Answers a request of node:http. Never rejects. */
export async function handleNode(
  handler: Handler,
  req: IncomingMessage,
  res: ServerResponse,
  onError: (error: unknown) => void,
): Promise<void> {
  const gone = new AbortController();
  res.once('close', () => {
    gone.abort();
  });
  try {
    const incoming = incomingFrom(req, gone.signal);
    const answer =
      incoming === undefined
        ? // Not authorized yet, so the answer has no address that names this library.
          json({ code: 'BAD_REQUEST', message: 'The request is not valid.' }, 400)
        : await handler.handle(incoming);
    // A server that closes waits until its connections end.
    const isLast = incoming?.isServing() === false;
    await send(answer, res, { hasBody: req.method !== 'HEAD', isLast });
  } catch (error) {
    onError(error);
    res.destroy();
  }
}
