// @ts-check
import { createInbox, verifiers } from '@webhook-backpressure/node';
import { postgresStore } from '@webhook-backpressure/postgres';

const { DATABASE_URL = 'postgres://localhost/webhooks', WEBHOOK_SECRET } = process.env;
// Created once for each instance of the function, and used by all its invocations. It needs one connection at a time.
const inbox = createInbox({
  store: postgresStore({ connectionString: DATABASE_URL }, { pooled: true }),
  verify: WEBHOOK_SECRET === undefined ? false : verifiers.standardWebhooks({ secret: WEBHOOK_SECRET }),
});

/**
 * A function that receives webhooks: `export { POST }` for Vercel and Next.js. Nothing runs after the response.
 *
 * @param {Request} request
 */
export async function POST(request) {
  await inbox.opened;
  const { pathname, search } = new URL(request.url);
  const answer = await inbox.receive({
    method: request.method,
    url: pathname + search,
    headers: Object.fromEntries(request.headers),
    hint: 'Do not read the body before.',
    read: async (body) => {
      body.add(new Uint8Array(await request.arrayBuffer()));
      return 'whole';
    },
  });
  if (answer === null) return new Response(null, { status: 503 });
  return new Response(answer.body === '' ? null : answer.body, answer);
}

/**
 * The same for AWS Lambda, behind a function URL or an API gateway with payload format 2.0.
 *
 * @param {{ rawPath: string, rawQueryString: string, headers: Record<string, string>, body?: string,
 *   isBase64Encoded: boolean, requestContext: { http: { method: string } } }} event
 */
export async function handler({ rawPath, rawQueryString, headers, body, isBase64Encoded, requestContext }) {
  const response = await POST(
    new Request(`https://function.internal${rawPath}?${rawQueryString}`, {
      method: requestContext.http.method,
      headers,
      body: body === undefined ? null : Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
    }),
  );
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}
