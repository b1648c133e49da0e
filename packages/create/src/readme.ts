import type { Chosen } from './chosen.ts';

const PAGES = 'https://github.com/webhook-backpressure/webhook-backpressure/blob/main';

/** The text of `README.md`. */
export function readme({ name, framework, sender, sent, stored }: Chosen): string {
  const signing = {
    secret: 'They are signed with `WEBHOOK_SECRET`.',
    keyPair: 'They are signed with the key pair of `fire --secret local`, whose public key is in `.env`.',
    never: `They are unsigned, because only ${sender} can sign, so each gets 401.`,
  }[sent.signed];
  const own =
    sender === 'other'
      ? '`verifySignature` in `server.js` checks the scheme of GitHub. Replace it by that of your sender.'
      : `\`server.js\` verifies with \`${sent.verify}\`: [its notes](${PAGES}/docs/inbox.md#ready-made-verifiers).`;
  return `# ${name}

Receives webhooks of the sender \`${sender}\` with [webhook-backpressure](${PAGES}/README.md) on ${framework}: verifies and stores a delivery, acknowledges it, and then processes it.

\`\`\`sh
npm install
npm test
npm start
npm run fire # in a second terminal: 2,000 deliveries in 5 s
\`\`\`

1. Put your work where \`server.js\` says \`YOUR WORK\`. If it throws, the delivery is retried.
2. ${own}
3. Set the variables in \`.env\`, which is not committed; \`.env.example\` explains them. In production, set them in the environment and run \`node server.js\`.
4. Read [the production checklist](${PAGES}/docs/production.md#checklist).

| Path            | What it is                                                                      |
| --------------- | ------------------------------------------------------------------------------- |
| \`/webhooks\`     | where the sender delivers                                                       |
| \`/backpressure\` | the live page: name \`operator\`, password \`PAGE_PASSWORD\`                        |
| \`/metrics\`      | metrics for Prometheus. Let only Prometheus reach them                          |
| \`/ready\`        | readiness: 503 while the server starts and stops                                |

Deliveries are kept ${stored.keeps}. On SIGTERM and Ctrl-C the server ends its work and exits.

\`npm run fire\` sends as [\`fire\`](${PAGES}/docs/fire.md) does. ${signing}
`;
}
