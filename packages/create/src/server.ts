import type { Chosen } from './chosen.ts';

/** The text of `server.js`. */
export function serverOf({ framework, sender, framed, sent, stored, variables }: Chosen): string {
  const ours = '@webhook-backpressure';
  const fromInbox = [
    ...(stored.package === undefined ? [stored.make] : []),
    ...(sent.verify.startsWith('verifiers.') ? ['verifiers'] : []),
    'webhookInbox',
  ];
  const closing =
    framed.closing === framework
      ? [`import { closeOnSignals, readiness } from '${ours}/${framework}';`]
      : [
          `import { readiness } from '${ours}/${framework}';`,
          `import { closeOnSignals } from '${ours}/${framed.closing}';`,
        ];
  const imports = [
    ...(sent.imports === undefined ? [] : [sent.imports]),
    ...framed.imports.filter((line) => line.includes(`'node:`)),
    `import { dashboard } from '${ours}/dashboard';`,
    ...closing,
    `import { ${fromInbox.join(', ')} } from '${ours}/${framework}/inbox';`,
    `import { logEvents } from '${ours}/observe';`,
    `import { collect } from '${ours}/prometheus';`,
    ...(stored.package === undefined ? [] : [`import { ${stored.make} } from '${ours}/${stored.package}';`]),
    ...framed.imports.filter((line) => !line.includes(`'node:`)),
    `import { register } from 'prom-client';`,
  ];
  const names = [`PORT = '3000'`, `PAGE_PASSWORD = ''`, ...variables.map(({ name }) => name)];
  return `// Receives webhooks (${sender}): verifies and stores a delivery, acknowledges it, and then processes it.
${imports.join('\n')}

const { ${names.join(', ')} } = process.env;

export const webhooks = webhookInbox({
  store: ${stored.make}(${stored.options}),
  // Otherwise: 401, and nothing is stored.
  verify: ${sent.verify},
  process: async ({ id, text }, { attempt }) => {
    // YOUR WORK. If it throws or rejects, the delivery is retried later. A delivery whose id is known is not processed again.
    console.log('attempt', attempt, 'at', id, 'with', text().length, 'characters');
  },
});
// Why a delivery was rejected or failed. The messages of errors may contain secrets and data of senders.
logEvents(webhooks.inbox, console, { errors: true });
// Metrics for Prometheus, at /metrics.
collect(webhooks.inbox);
// The live page, at /backpressure.
const page =
  PAGE_PASSWORD === ''
    ? undefined
    : dashboard({ inboxes: { webhooks: webhooks.inbox }, authorize, allowUpdate: true });

${framed.mount}
closeOnSignals(webhooks.inbox, { server });

/**
 * Who may use the live page: a browser asks for the name \`operator\` and the password.
 *
 * @param {Request} request
 */
function authorize({ headers }) {
  if (headers.get('authorization') === \`Basic \${btoa(\`operator:\${PAGE_PASSWORD}\`)}\`) return true;
  return new Response('Unauthorized', { status: 401, headers: { 'WWW-Authenticate': 'Basic' } });
}
${sent.code ?? ''}`;
}
