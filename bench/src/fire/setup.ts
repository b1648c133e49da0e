import { fileURLToPath } from 'node:url';

export const FRAMEWORKS = ['Express', 'Fastify', 'Hono', 'Next.js'] as const;
export const PROTECTIONS = ['none', 'hold', 'inbox'] as const;

export type Framework = (typeof FRAMEWORKS)[number];
export type Protection = (typeof PROTECTIONS)[number];

export const WORKERS = 10;
export const HANDLING_MS = 160;
export const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';

export const SENDERS = ['--as', 'github:0.5,svix:0.5', '--secret', SECRET];
/** Before the burst, so that the code of the app is compiled. */
export const WARM_UP_EVENTS = 100;
export const WARM_UP = ['--burst', `${String(WARM_UP_EVENTS)}/5s`];
/** Of the senders' time, sixty times as fast: 200 a second for 5 s, three times as many as the handlers complete. */
export const BURST = ['--burst', '1000/5min', '--speed', '60'];

/** The compiled app of Next.js, which `next build` builds there. */
export const NEXT_APP = fileURLToPath(new URL('next', import.meta.url));
