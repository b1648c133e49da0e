import { readFileSync, rmSync } from 'node:fs';
import { compileFunction } from 'node:vm';
import { metrics, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BackpressureError, systemClock } from '@webhook-backpressure/base';
import { known } from '@webhook-backpressure/senders';
import {
  createInbox,
  createWorker,
  type Inbox,
  type InboxRequest,
  memoryStore,
  RetryAfter,
  throwing,
  verifiers,
} from '@webhook-backpressure/inbox';
import { createIntake, sizeQueue } from '@webhook-backpressure/core';
import { logEvents, notify, observe, readMetrics } from '@webhook-backpressure/observe';
import { joinFleet, memoryRegistry } from '@webhook-backpressure/fleet';
import { checkHistory, manualClock } from '@webhook-backpressure/core/testing';
import { bullmqDoor, deliveryOf } from '@webhook-backpressure/bullmq';
import { dashboard, type DashboardOptions } from '@webhook-backpressure/dashboard';
import { webhookBackpressure } from '@webhook-backpressure/express';
import { webhookInbox } from '@webhook-backpressure/hono/inbox';
import { closeOnSignals, processPressure, readiness } from '@webhook-backpressure/node';
import { fire } from '@webhook-backpressure/fire';
import { instrument } from '@webhook-backpressure/otel';
import { collect } from '@webhook-backpressure/prometheus';
import { postgresSchema, postgresStore } from '@webhook-backpressure/postgres';
import { github, reconcile, type Source, stripe } from '@webhook-backpressure/reconcile';
import { redisBuckets, redisRegistry } from '@webhook-backpressure/redis';
import {
  createSender,
  limitedFetch,
  tokenBucket,
  type OutgoingEvent,
  type SenderOptions,
} from '@webhook-backpressure/sender';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { withBackpressure } from '@webhook-backpressure/web';
import { Hono } from 'hono';
import { Registry } from 'prom-client';
import { choose } from '../../packages/sqlite/src/connection/drivers.ts';
import { checkEndpoint } from '../../packages/sender/src/options/endpoint-settings.ts';
import { checkLimits } from '../../packages/sender/src/options/rates.ts';
import { settle } from '../../packages/sqlite/src/options.ts';
import { StoreThread } from '../../packages/sqlite/src/thread/store-thread.ts';
import { queues } from '../bullmq/fake-queues.ts';
import { MemoryState, MemoryStore } from '../core/inbox/shared-memory.ts';
import { delivery, ROOMY, START } from '../core/inbox/store/cases/store-fixtures.ts';
import { databases } from '../postgres/broken-databases.ts';
import { BrokenFiles } from '../sqlite/broken-files.ts';
import { inboxes } from './error-inboxes.ts';
import { anchorsOf, isHeading, page, sectionOf, tokensOf } from './pages.ts';
import { literalsIn } from './typescript.ts';

const errors = page('docs/errors.md');
const codes = errors.tokens
  .filter(isHeading)
  .filter(({ depth }) => depth === 2)
  .map(({ text }) => text);

const MARK = ' // throws';
const KEY = new Uint8Array(32).fill(1);
const REQUEST: InboxRequest = {
  headers: { 'webhook-id': 'evt_1' },
  hint: '',
  read: () => Promise.resolve('whole'),
};
let inboxWithoutItsKey: Inbox;
const files = new BrokenFiles();
const store = sqliteStore({ path: files.free });
const storeOfADeletedFile = sqliteStore({ path: files.deleted });
const storeWhoseThreadDies = {
  stats: async () => {
    const thread = new StoreThread({ settings: settle({ path: files.missing }), driver: undefined });
    const call = thread.call('stats', []);
    void thread.stop();
    throw (await call).error ?? new Error('It answered.');
  },
};
const orderUpdated: OutgoingEvent = { endpoint: 'ep_1', type: 'order.updated', data: {} };
const senders = {
  full: createSender({ ...sending(), capacity: 1, whenFull: 'refuse' }),
  closed: createSender(sending()),
  withoutStore: createSender({ ...sending(), store: withoutPut() }),
};
const onNode20WithoutLibsql = { sqliteStore: () => ({ open: () => choose([]) }) };

beforeAll(async () => {
  const bank = new MemoryState();
  const options = { process: work, verify: false, overflow: 'dead-letter', highWaterMark: 0.002 } as const;
  const marks = { capacity: 1, lowWaterMark: 0.001 };
  const before = createInbox({
    ...options,
    ...marks,
    store: new MemoryStore(bank),
    process: () => new Promise(() => undefined),
    encrypt: { keys: { a: KEY } },
  });
  await before.receive({ ...REQUEST, headers: {} });
  await before.receive(REQUEST);
  inboxWithoutItsKey = createInbox({ ...options, ...marks, store: new MemoryStore(bank) });
  void store.open(START);
  void storeOfADeletedFile.open(START);
  rmSync(files.deleted);
  await senders.full.send(orderUpdated);
  await senders.closed.close();
  await inboxes.full.add({ body: '' });
  await inboxes.closed.close();
});
afterAll(() => {
  void store.close(START);
  void storeOfADeletedFile.close(START);
  files.dispose();
});

function linesUnder(code: string): string[] {
  const blocks = tokensOf('code', sectionOf(errors, code)).filter(({ lang }) => lang === 'ts');
  return blocks.flatMap(({ text }) => text.split('\n')).filter((line) => line !== '');
}

/** The options that a sender requires. It never gets to know its endpoints. */
function sending(): SenderOptions {
  return { store: memoryStore(), endpoint: () => new Promise(() => undefined) };
}

function withoutPut(): SenderOptions['store'] {
  return Object.assign(memoryStore(), { put: () => Promise.reject(new Error('The disk is full.')) });
}

/** The check of what the option `endpoint` returns. */
function settingsOf(endpoint: unknown): void {
  checkEndpoint(endpoint, { defaults: checkLimits(), allowPrivateAddresses: false });
}

function work(): void {
  // The reader's own code.
}

/** Of a source whose API answers 401. */
function firstOf(source: Source): Promise<unknown> {
  const { signal } = new AbortController();
  const fetch = () => Promise.resolve(new Response('', { status: 401 }));
  return source(new Date(0), { signal, fetch })[Symbol.asyncIterator]().next();
}

/** Rejects with the error of the app. */
async function postLogin(app: Hono): Promise<void> {
  app.onError((error) => {
    throw error;
  });
  await app.request('/login', { method: 'POST' });
}

/** Closed again, so that it does not read its sources until the test ends. */
function createDashboard(given: DashboardOptions): void {
  dashboard(given).close();
}

/** The value that a line throws or rejects with, or null. */
async function thrownBy(line: string): Promise<unknown> {
  const names = {
    createIntake,
    createWorker,
    joinFleet,
    observe,
    registry: memoryRegistry(systemClock),
    redisBuckets,
    redisRegistry,
    redisClient: { eval: () => Promise.resolve([]) },
    createSender,
    tokenBucket,
    limitedFetch,
    fire,
    reconcile,
    github,
    stripe,
    token: 'ghp_1',
    firstOf,
    sending: sending(),
    sender: createSender(sending()),
    senders,
    inboxes,
    orderUpdated,
    settingsOf,
    sizeQueue,
    logEvents,
    notify,
    known,
    checkHistory,
    manualClock,
    webhookBackpressure,
    withBackpressure,
    respond: () => new Response(),
    Hono,
    postLogin,
    webhooks: webhookInbox({ store: memoryStore(), process: work, verify: false }),
    expressRequest: { method: 'POST', headers: {}, res: {} },
    closeOnSignals,
    readiness,
    sqliteStore,
    postgresStore,
    postgresSchema,
    databases,
    bullmqDoor,
    deliveryOf,
    queues,
    files,
    processPressure,
    intake: createIntake(),
    backpressure: webhookBackpressure(),
    createInbox,
    memoryStore,
    RetryAfter,
    verifiers,
    throwing,
    key: KEY,
    options: { store: memoryStore(), process: work, verify: false },
    request: REQUEST,
    inboxWithoutItsKey,
    store,
    storeOfADeletedFile,
    onNode20WithoutLibsql,
    storeWhoseThreadDies,
    readMetrics,
    collect,
    instrument,
    metrics,
    trace,
    Registry,
    register: new Registry(),
    delivery: delivery('evt_1'),
    limits: { limits: ROOMY, nowMs: START },
    inbox: createInbox({ store: memoryStore(), process: work, verify: false }),
    work,
    dashboard: createDashboard,
  };
  const run = compileFunction(`return ${line}`, Object.keys(names)) as (...values: unknown[]) => unknown;
  try {
    await run(...Object.values(names));
    return null;
  } catch (error) {
    return error;
  }
}

describe('docs/errors.md', () => {
  let known: string[] = [];

  beforeAll(() => {
    known = literalsIn(
      new URL('../../packages/base/src/errors.ts', import.meta.url),
      'BackpressureErrorCode',
    );
  });

  it('has one heading for each code and no others', () => {
    expect(known).toContain('ERR_WBP_CAPACITY');
    expect([...codes].sort()).toEqual([...known].sort());
  });

  it('shows a message as it is thrown in an app', async () => {
    const [shown] = tokensOf('code', errors.tokens).filter(({ lang }) => lang === 'text');
    const error = await thrownBy('createIntake({ capacity: 0 })');
    expect(error).toBeInstanceOf(BackpressureError);
    const { message } = error as BackpressureError;
    const installed = 'file:///app/node_modules/@webhook-backpressure/base/dist/';
    expect(shown?.text).toBe(message.replace(/file:.*(?=docs)/, installed));
  });

  it('is the file that help points to', async () => {
    const { help } = (await thrownBy('createIntake({ capacity: 0 })')) as BackpressureError;
    expect(readFileSync(new URL(help), 'utf8')).toBe(errors.source);
    expect(anchorsOf(errors)).toContain(new URL(help).hash.slice(1));
  });
});

describe.each(codes)('%s', (code) => {
  const lines = linesUnder(code);

  it('is thrown by the lines marked as throwing', async () => {
    const wrong = lines.filter((line) => line.endsWith(MARK));
    expect(wrong).not.toEqual([]);
    for (const line of wrong) {
      const error = await thrownBy(line);
      expect(error, line).toBeInstanceOf(BackpressureError);
      expect((error as BackpressureError).code, line).toBe(code);
    }
  });

  it('is not thrown by the other lines', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    for (const line of lines.filter((one) => !one.endsWith(MARK))) {
      expect(await thrownBy(line), line).toBeNull();
    }
  });
});
