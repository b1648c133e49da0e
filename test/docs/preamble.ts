// Names that code blocks in the docs may use without declaring them. A declaration in a block takes precedence.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Express, RequestHandler } from 'express';
import type * as core from '@webhook-backpressure/core';
import type * as fleet from '@webhook-backpressure/fleet';
import type * as inboxPackage from '@webhook-backpressure/inbox';
import type * as observing from '@webhook-backpressure/observe';
import type * as senderProfiles from '@webhook-backpressure/senders';
import type * as testing from '@webhook-backpressure/core/testing';
import type * as bullmq from '@webhook-backpressure/bullmq';
import type * as page from '@webhook-backpressure/dashboard';
import type * as adapter from '@webhook-backpressure/express';
import type * as inboxAdapter from '@webhook-backpressure/express/inbox';
import type * as node from '@webhook-backpressure/node';
import type * as otelApi from '@opentelemetry/api';
import type * as otel from '@webhook-backpressure/otel';
import type * as prometheus from '@webhook-backpressure/prometheus';
import type * as postgres from '@webhook-backpressure/postgres';
import type * as firing from '@webhook-backpressure/fire';
import type * as reconciling from '@webhook-backpressure/reconcile';
import type * as redis from '@webhook-backpressure/redis';
import type * as senderPackage from '@webhook-backpressure/sender';
import type * as sqlite from '@webhook-backpressure/sqlite';
import type * as web from '@webhook-backpressure/web';
import type * as hono from 'hono';
import type * as promClient from 'prom-client';

declare global {
  const createIntake: typeof core.createIntake;
  const createInbox: typeof inboxPackage.createInbox;
  const createWorker: typeof inboxPackage.createWorker;
  const joinFleet: typeof fleet.joinFleet;
  const observe: typeof observing.observe;
  const memoryStore: typeof inboxPackage.memoryStore;
  const RetryAfter: typeof inboxPackage.RetryAfter;
  const verifiers: typeof inboxPackage.verifiers;
  const throwing: typeof inboxPackage.throwing;
  const sizeQueue: typeof core.sizeQueue;
  const logEvents: typeof observing.logEvents;
  const notify: typeof observing.notify;
  const readMetrics: typeof observing.readMetrics;
  const instrument: typeof otel.instrument;
  const metrics: typeof otelApi.metrics;
  const trace: typeof otelApi.trace;
  const collect: typeof prometheus.collect;
  const Registry: typeof promClient.Registry;
  const register: promClient.Registry;
  const known: typeof senderProfiles.known;
  const checkHistory: typeof testing.checkHistory;
  const manualClock: typeof testing.manualClock;
  const webhookBackpressure: typeof adapter.webhookBackpressure;
  const withBackpressure: typeof web.withBackpressure;
  const respond: (request: Request) => Response;
  const expressRequest: Request;
  const Hono: typeof hono.Hono;
  const webhooks: hono.MiddlewareHandler;
  function postLogin(app: hono.Hono): Promise<void>;
  const webhookInbox: typeof inboxAdapter.webhookInbox;
  const closeOnSignals: typeof node.closeOnSignals;
  const readiness: typeof node.readiness;
  const sqliteStore: typeof sqlite.sqliteStore;
  const postgresStore: typeof postgres.postgresStore;
  const postgresSchema: typeof postgres.postgresSchema;
  const bullmqDoor: typeof bullmq.bullmqDoor;
  const deliveryOf: typeof bullmq.deliveryOf;
  const createSender: typeof senderPackage.createSender;
  const tokenBucket: typeof senderPackage.tokenBucket;
  const limitedFetch: typeof senderPackage.limitedFetch;
  const fire: typeof firing.fire;
  const reconcile: typeof reconciling.reconcile;
  const github: typeof reconciling.github;
  const stripe: typeof reconciling.stripe;
  const token: string;
  function firstOf(source: reconciling.Source): Promise<unknown>;
  const processPressure: typeof node.processPressure;
  const dashboard: typeof page.dashboard;

  const intake: core.Intake;
  const inbox: inboxPackage.Inbox;
  const inboxWithoutItsKey: inboxPackage.Inbox;
  const registry: fleet.FleetRegistry;
  const redisBuckets: typeof redis.redisBuckets;
  const redisRegistry: typeof redis.redisRegistry;
  const redisClient: redis.RedisClient;
  const request: inboxPackage.InboxRequest;
  const key: Uint8Array;
  const options: inboxPackage.InboxOptions;
  const store: inboxPackage.InboxStore;
  const storeOfADeletedFile: inboxPackage.InboxStore;
  const delivery: inboxPackage.StoredDelivery;
  const limits: { readonly limits: inboxPackage.StoreLimits; readonly nowMs: number };
  const backpressure: { readonly intake: core.Intake };
  const app: Express;
  const server: Server;

  const sending: senderPackage.SenderOptions;
  const sender: senderPackage.Sender;
  const findEndpoint: senderPackage.SenderOptions['endpoint'];
  const senders: Record<'full' | 'closed' | 'withoutStore', senderPackage.Sender>;
  const inboxes: Record<'full' | 'closed', inboxPackage.Inbox> & { completingTwice(): unknown };
  const orderUpdated: senderPackage.OutgoingEvent;
  function settingsOf(endpoint: unknown): void;

  const files: Record<
    'free' | 'ofAnotherProgram' | 'ofANewerRelease' | 'damaged' | 'locked' | 'missing',
    string
  >;

  const databases: Record<
    'withoutRights' | 'ofAnotherProgram' | 'ofANewerRelease' | 'unreachable',
    inboxPackage.InboxStore
  >;

  const queues: Record<'working' | 'disconnected' | 'onPostgres', bullmq.BullmqQueue>;

  // The reader's own code.
  const handleDelivery: RequestHandler;
  function work(input: unknown): Promise<{ ok: boolean }>;
  function authorize(request: Request): boolean;
  function verify(rawBody: unknown, headers: unknown): void;
  function answer(status: number, headers: Record<string, string>, body: string): void;
  type Listener = (req: IncomingMessage, res: ServerResponse) => void;
}
