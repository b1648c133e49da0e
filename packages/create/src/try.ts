import type { Chosen } from './chosen.ts';

/** In the test, the secret is a constant there; `fire` makes a key pair from `local`. */
function secretOf({ sent }: Chosen, secret: string): string {
  return { secret: `'--secret', ${secret}, `, keyPair: `'--secret', 'local', `, never: '' }[sent.signed];
}

/** The text of `fire.js`. */
export function fireOf(chosen: Chosen): string {
  const { sent, sender } = chosen;
  const secret = secretOf(chosen, 'process.env.WEBHOOK_SECRET');
  return `// Sends 2,000 deliveries in 5 s to the server on this machine, as ${sent.as} does${sent.signed === 'never' ? `. They are unsigned: only ${sender} can sign` : ''}.
import { fire } from '@webhook-backpressure/fire';

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
const url = \`http://localhost:\${process.env.PORT ?? '3000'}/webhooks\`;
const args = [url, '--as', '${sent.as}', ${secret}'--burst', '2000/5s', '--for', '30s'];
console.log(\`Sending 2,000 deliveries in 5 s to \${url} as ${sent.as}.\`);
const { senders, delivered, lost, open, attempts, ackMs, answers, failures } = await fire(args, {
  signal: stop.signal,
});
console.log({ delivered, lost, open, attempts, ackMs, answers, failures });
for (const { conclusion, signature } of senders) console.log(conclusion, signature ?? '');
process.exitCode = lost + open > 0 ? 1 : 0;
`;
}

/** The text of `server.test.js`. */
export function testOf(chosen: Chosen): string {
  const { sent, sender, stored, variables } = chosen;
  const settings = [
    `PORT: '0',`,
    `PAGE_PASSWORD: '',`,
    ...sent.variables.map(({ name, local }) =>
      name === 'WEBHOOK_SECRET'
        ? 'WEBHOOK_SECRET: secret,'
        : `${name}: ${name === 'BASE_URL' ? 'origin' : `'${local}'`},`,
    ),
    ...(stored.test === '' ? [] : [stored.test]),
  ];
  const hasSecret = variables.some(({ name }) => name === 'WEBHOOK_SECRET');
  const isFile = stored.test.includes('mkdtempSync');
  const imports = [
    `import assert from 'node:assert/strict';`,
    ...(hasSecret ? [`import { randomBytes } from 'node:crypto';`] : []),
    `import { once } from 'node:events';`,
    ...(isFile ? [`import { mkdtempSync } from 'node:fs';`] : []),
    `import { createServer } from 'node:http';`,
    ...(isFile ? [`import { tmpdir } from 'node:os';`, `import { join } from 'node:path';`] : []),
    `import { buffer } from 'node:stream/consumers';`,
    `import { after, test } from 'node:test';`,
    `import { fire } from '@webhook-backpressure/fire';`,
  ];
  return `${imports.join('\n')}

// A delivery as ${sent.as} sends it, recorded from the load tool \`fire\`.
${hasSecret ? `const secret = randomBytes(32).toString('hex');\n` : ''}const recorder = createServer().listen(0, '127.0.0.1');
await once(recorder, 'listening');
const origin = \`http://127.0.0.1:\${recorder.address().port}\`;
const recorded = once(recorder, 'request').then(async ([request, response]) => {
  const { host, connection, 'content-length': length, ...headers } = request.headers;
  const body = await buffer(request);
  response.end();
  return { method: 'POST', headers, body };
});
await fire([\`\${origin}/webhooks\`, '--as', '${sent.as}', ${secretOf(chosen, 'secret')}'--burst', '1/10ms']);
const delivery = await recorded;
recorder.close();

// server.js reads them when it is imported.
Object.assign(process.env, {
  ${settings.join('\n  ')}
});
const { server, webhooks } = await import('./server.js');
if (!server.listening) await once(server, 'listening');
const url = \`http://127.0.0.1:\${server.address().port}/webhooks\`;
const processed = new Promise((resolve, reject) => {
  webhooks.inbox.subscribe((event) => {
    if (event.type === 'completed') resolve(event);
    if (event.type === 'failed') reject(event.error);
  });
});
processed.catch(() => undefined);

after(async () => {
  await webhooks.inbox.close();
  server.close();
  server.closeAllConnections();
});

${casesOf(sender, sent)}`;
}

function casesOf(sender: string, { signed, token }: Chosen['sent']): string {
  if (signed === 'never')
    return `// Only ${sender} can sign. Send a test event from its dashboard to see a delivery accepted.
test('rejects an unsigned delivery', async () => {
  const response = await fetch(url, { method: 'POST', body: delivery.body });
  assert.equal(response.status, 401);
});

test('processes a stored delivery', { timeout: 10_000 }, async () => {
  await webhooks.inbox.add({ body: delivery.body });
  await processed;
});
`;
  const tampered =
    token === undefined
      ? `body: Buffer.concat([delivery.body, Buffer.from(' ')])`
      : `headers: { ...delivery.headers, '${token}': 'another' }`;
  return `test('accepts a signed delivery and processes it', { timeout: 10_000 }, async () => {
  const response = await fetch(url, delivery);
  // 202 where the sender accepts any 2xx.
  assert.ok(response.status === 200 || response.status === 202, \`\${response.status}\`);
  await processed;
});

test('rejects a tampered delivery', async () => {
  const response = await fetch(url, { ...delivery, ${tampered} });
  assert.equal(response.status, 401);
});
`;
}
