import { withBackpressure } from '@webhook-backpressure/web';
import { webhookInbox } from '@webhook-backpressure/web/inbox';
import { handle, INBOX, LIMITS } from '../../../handler.ts';

const { PROTECTION } = process.env;

async function respond(): Promise<Response> {
  await handle();
  return new Response(null, { status: 204 });
}

const guarded: (request: Request) => Promise<Response> =
  PROTECTION === 'hold' ? withBackpressure(respond, LIMITS) : respond;

export const POST = PROTECTION === 'inbox' ? webhookInbox(INBOX) : guarded;
export const dynamic = 'force-dynamic';
