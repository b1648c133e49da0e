import {
  createInbox,
  type Inbox,
  type InboxDelivery,
  type InboxRequest,
  type InboxStore,
  memoryStore,
} from '@webhook-backpressure/inbox';
import type { Clock } from '@webhook-backpressure/base';
import type { Delivery } from '@webhook-backpressure/core';
import type { SenderProfile } from '@webhook-backpressure/senders';
import { stream } from '../base/random.ts';
import type { ScenarioInbox } from '../scenario/inbox.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Sender } from '../scenario/sender.ts';

/** The time of day at the beginning of a run: any would do. */
const START_MS = Date.UTC(2026, 0, 1);

const SENDER = 'x-simulated-sender';
const DELIVERY = 'x-simulated-delivery';
const SENT_AT = 'x-simulated-sent-at';
const BODY = new TextEncoder().encode('{}');

/** Creates the inbox of a scenario, with its deliveries in memory. */
export function inboxOf(
  { seed, senders }: Scenario,
  { options, commitMs }: ScenarioInbox,
  clock: Clock,
  process: (delivery: InboxDelivery) => Promise<void>,
): Inbox {
  return createInbox({
    ...options,
    process,
    store: commitMs === 0 ? memoryStore() : committingStore(commitMs, clock),
    verify: false,
    senders: senders.map(profileOf),
    clock,
    wallClock: () => START_MS + clock.now(),
    random: stream(seed, 'intake'),
  });
}

/** The request of one attempt of delivery `i`, from the sender with this index. */
export function requestOf(i: number, sender: number, { id, profile }: Delivery, atMs: number): InboxRequest {
  const idHeader = profile?.id ?? 'webhook-id';
  const headers = { [SENDER]: String(sender), [DELIVERY]: String(i), [SENT_AT]: String(atMs) };
  return {
    ...{ method: 'POST', url: '/', hint: '' },
    headers: id === undefined ? headers : { ...headers, [idHeader]: id },
    read: (body) => {
      body.add(BODY);
      return Promise.resolve('whole');
    },
  };
}

/** Which delivery this is, and when the stored attempt was sent. */
export function originOf({ headers }: InboxDelivery): { readonly i: number; readonly sentMs: number } {
  return { i: Number(headers[DELIVERY]), sentMs: Number(headers[SENT_AT]) };
}

/**
 * An inbox knows its senders by profiles: that of the sender, but matched by the simulated header, since the pattern
 * of a real one has no single value. Without a profile, one that says what the deliveries of the sender say in hold mode.
 */
function profileOf({ key, profile, recognized, delivery }: Sender, index: number): SenderProfile {
  const { retries, statusCode, maxWaitMs } = delivery;
  const match = { header: SENDER, value: String(index) };
  const described: SenderProfile = {
    ...{ name: key, match },
    retries: retries === false ? 'none' : undefined,
    status: statusCode,
    // A profile has the time before the margin for the handler and the response.
    timeoutMs: maxWaitMs === undefined ? undefined : Math.max(maxWaitMs + 500, maxWaitMs / 0.8),
    ...{ source: 'the scenario', verifiedAt: '2026-01-01' },
  };
  if (profile === undefined || !recognized) return described;
  const stated = Object.entries(described).filter(([, value]) => value !== undefined);
  const { source, verifiedAt } = profile;
  return { ...profile, ...Object.fromEntries(stated), source, verifiedAt, handshake: undefined };
}

/** A store with one disk: each call that changes something waits for its commit, one after the other. */
function committingStore(commitMs: number, clock: Clock): InboxStore {
  const store = memoryStore();
  let freeAtMs = 0;
  const commit = (): Promise<void> => {
    const nowMs = clock.now();
    freeAtMs = Math.max(nowMs, freeAtMs) + commitMs;
    return new Promise((resolve) => {
      clock.setTimeout(resolve, freeAtMs - nowMs);
    });
  };
  const [put, settle, claim] = [store.put.bind(store), store.settle.bind(store), store.claim.bind(store)];
  return Object.assign(store, {
    put: async (...call: Parameters<InboxStore['put']>) => {
      await commit();
      return put(...call);
    },
    settle: async (...call: Parameters<InboxStore['settle']>) => {
      await commit();
      return settle(...call);
    },
    claim: async (...call: Parameters<InboxStore['claim']>) => {
      const claimed = await claim(...call);
      if (claimed.length > 0) await commit();
      return claimed;
    },
  });
}
