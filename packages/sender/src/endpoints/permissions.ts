import type { Scheduler } from '@webhook-backpressure/inbox/store';
import { limitOf } from '@webhook-backpressure/fleet';
import type { EndpointSettings, Permission } from '../options/endpoint-settings.ts';
import { perSecondOf } from '../options/rates.ts';
import type { Requester } from '../requests/request.ts';

/** How long a permission is used. The rate that a receiver sustains changes with its handlers. */
const ASK_MS = 60_000;
const TIMEOUT_MS = 5000;
const RATE = /^[1-9]\d{0,14}$/;
const NO_BODY = new Uint8Array();

/** The endpoint does not allow deliveries. */
export class PermissionDenied extends Error {
  constructor(status: number) {
    super(`The endpoint does not allow deliveries: it answered OPTIONS with ${String(status)}.`);
    this.name = 'PermissionDenied';
  }
}

/**
 * Settings with the rate that the endpoint allows. Asks for permission unless the last one is younger than a minute, and
 * belongs to the same URL and origin.
 *
 * Source: "HTTP 1.1 Web Hooks for Event Delivery" 1.0.2, section 4.
 *
 * @param before - the settings in use.
 * @throws PermissionDenied, or an error when the endpoint cannot be asked.
 */
export async function permitted(
  settings: EndpointSettings,
  before: EndpointSettings | null | undefined,
  requester: Requester,
  scheduler: Scheduler,
): Promise<EndpointSettings> {
  const { url, origin, limit } = settings;
  if (origin === undefined) return settings;
  const { nowMs } = scheduler;
  const isSame = before?.url.href === url.href && before.origin === origin;
  const known = isSame ? before.permission : undefined;
  const permission =
    known !== undefined && nowMs - known.atMs < ASK_MS
      ? known
      : await ask({ ...settings, origin }, requester, scheduler);
  if (permission.perMinute >= perSecondOf(limit) * 60) return { ...settings, permission };
  const allowed = limitOf({ perMinute: permission.perMinute }, undefined);
  return { ...settings, permission, limit: { ...allowed, burst: Math.min(allowed.burst, limit.burst) } };
}

async function ask(
  { url, origin, limit }: EndpointSettings & { readonly origin: string },
  requester: Requester,
  scheduler: Scheduler,
): Promise<Permission> {
  const controller = new AbortController();
  const timeout = scheduler.task(() => {
    controller.abort();
  });
  timeout.set(scheduler.nowMs + TIMEOUT_MS);
  const headers = {
    'webhook-request-origin': origin,
    'webhook-request-rate': String(Math.max(1, Math.round(perSecondOf(limit) * 60))),
  };
  try {
    const { signal } = controller;
    const answer = await requester.send({ method: 'OPTIONS', url, headers, body: NO_BODY, signal });
    return permissionOf(answer.status, answer.header, origin, scheduler.nowMs);
  } finally {
    timeout.clear();
  }
}

function permissionOf(
  status: number,
  header: (name: string) => string | undefined,
  origin: string,
  atMs: number,
): Permission {
  // It is overloaded or down, which says nothing about permission.
  if (status === 429 || status >= 500)
    throw new Error(`The endpoint answered OPTIONS with ${String(status)}.`);
  const allowed = header('webhook-allowed-origin')?.trim().toLowerCase();
  if (status < 200 || status > 299 || (allowed !== '*' && allowed !== origin.toLowerCase()))
    throw new PermissionDenied(status);
  const rate = header('webhook-allowed-rate')?.trim() ?? '*';
  return { atMs, perMinute: RATE.test(rate) ? Number(rate) : Infinity };
}
