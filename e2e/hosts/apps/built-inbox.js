import { appendFileSync } from 'node:fs';
import { memoryStore, webhookInbox } from '@webhook-backpressure/web/inbox';

/** Set only while the app is built. */
const { BUILD_LOG } = process.env;

/** @param {string} line */
const log = (line) => {
  if (BUILD_LOG !== undefined) appendFileSync(BUILD_LOG, `${line}\n`);
};

const store = memoryStore();
const open = store.open.bind(store);
store.open = (...args) => {
  log('opened');
  return open(...args);
};

log('loaded');
export const { inbox } = webhookInbox({ store, verify: false, process: () => undefined });
