import type { DeadLetters, OpenedStore, StoreStats } from '@webhook-backpressure/inbox';
import type {
  Endpoints,
  SenderCloseReport,
  SenderListener,
  SenderSnapshot,
} from '@webhook-backpressure/observe';
import { DAY_MS, invalid } from '@webhook-backpressure/base';
import { deadLetters, StoreOpening } from '@webhook-backpressure/inbox/store';
import { LateMonitor } from '@webhook-backpressure/core/extend';
import { settle } from './options/sender-settings.ts';
import type { SenderOptions } from './options/sender-options.ts';
import { storedEvent, type OutgoingEvent, type SendResult } from './outbox/outgoing-event.ts';
import { senderEndpoints } from './sender-endpoints.ts';
import { composeSender, type SenderParts } from './sender-parts.ts';
import { monitorOf } from './sender-monitoring.ts';
import { shutDown } from './sender-shutdown.ts';
import { busiestEndpoints, findEndpoint, senderSnapshot } from './sender-snapshot.ts';
import type { Sender } from './sender.ts';
import type { SenderMonitor } from './watch/sender-monitor.ts';

const DEFAULT_TIMEOUT_MS = 10_000;

/** A sender: an outbox in a store, and a dispatcher that empties it. */
export class DurableSender implements Sender {
  readonly opened: Promise<void>;
  readonly endpoints: Endpoints;
  readonly deadLetters: DeadLetters;
  readonly #parts: SenderParts;
  readonly #opening: StoreOpening;
  readonly #monitoring: LateMonitor<SenderMonitor>;
  #phase: 'opening' | 'open' | 'closing' | 'closed' = 'opening';
  #stats: StoreStats | undefined;
  #closed: Promise<SenderCloseReport> | undefined;
  #endOpening: () => void = () => undefined;

  constructor(options: SenderOptions) {
    const settings = settle(options);
    this.opened = new Promise((resolve) => {
      this.#endOpening = resolve;
    });
    const parts = (this.#parts = composeSender(settings, {
      opened: this.opened,
      isAccepting: () => this.#phase === 'opening' || this.#phase === 'open',
      isOpen: () => this.#phase === 'open',
      learned: (stats) => {
        this.#stats = stats;
      },
    }));
    this.#monitoring = new LateMonitor(parts.report, (nowMs) => monitorOf(parts, nowMs));
    this.deadLetters = deadLetters({
      ...{ store: settings.store, report: parts.report, finished: parts.finished },
      ...{ redriving: parts.redriving, now: parts.now, encryption: { decrypt: (delivery) => delivery } },
    });
    this.endpoints = senderEndpoints({
      parts,
      busiest: (most) => busiestEndpoints(parts, this.#monitor, most),
      find: (id) => findEndpoint(parts, this.#monitor, id),
      redrive: (key) => {
        this.deadLetters.redrive('all', { key }).catch((error: unknown) => {
          parts.health.failed('redrive', error);
        });
      },
    });
    this.#opening = new StoreOpening({
      ...{ store: settings.store, health: parts.health, wallMs: parts.wallMs, isOrdered: undefined },
      ...{ isWanted: () => this.#phase === 'opening', opened: this.#begin },
    });
    // Nothing is opened, so that the build of an app does not wait for it.
    if (!this.#opening.begin()) this.#endOpening();
  }

  async send(
    event: OutgoingEvent,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<SendResult> {
    const { settings, wall, outbox } = this.#parts;
    return await outbox.put(storedEvent(event, settings.maxEventBytes, wall.rawMs()), signal);
  }

  snapshot(): SenderSnapshot {
    return senderSnapshot(this.#parts, {
      state: this.#state,
      isPaused: this.#parts.pauses.isAll,
      oldestReceivedAtMs: this.#stats?.oldestReceivedAtMs,
      monitor: this.#monitor,
    });
  }

  subscribe(listener: SenderListener): () => void {
    if (typeof listener !== 'function') throw invalid('ERR_WBP_LISTENER', 'listener', 'a function', listener);
    const unsubscribe = this.#parts.report.listeners.add(listener);
    this.#monitor.alarms(this.#parts.now());
    return unsubscribe;
  }

  close({
    timeoutMs = DEFAULT_TIMEOUT_MS,
  }: { timeoutMs?: number | undefined } = {}): Promise<SenderCloseReport> {
    if (!(typeof timeoutMs === 'number' && timeoutMs >= 0 && timeoutMs <= DAY_MS)) {
      throw invalid('ERR_WBP_CLOSE', 'timeoutMs', 'a number of milliseconds from 0 to 86,400,000', timeoutMs);
    }
    this.#closed ??= this.#close(timeoutMs);
    return this.#closed;
  }

  async #close(timeoutMs: number): Promise<SenderCloseReport> {
    this.#phase = 'closing';
    this.#endOpening();
    this.#monitoring.end(this.#parts.now());
    const report = await shutDown(this.#parts, this.#opening, timeoutMs);
    this.#phase = 'closed';
    this.#parts.report.emit({ type: 'closed', ...report });
    return report;
  }

  readonly #begin = (opened: OpenedStore): void => {
    const { level, learn, destinations, dispatcher, discovery, maintenance, renewal } = this.#parts;
    if (this.#phase !== 'opening') return;
    this.#phase = 'open';
    level.adopt(opened, level.ownChanges);
    learn(opened);
    for (const [id, depth] of opened.depthByKey) destinations.at(id).stored = depth;
    dispatcher.begin();
    discovery.begin();
    maintenance.begin();
    renewal.begin();
    this.#endOpening();
  };

  get #monitor(): SenderMonitor {
    return this.#monitoring.look(this.#parts.now());
  }

  get #state(): SenderSnapshot['state'] {
    if (this.#phase !== 'open') return this.#phase;
    return this.#parts.outbox.isFull ? 'full' : 'accepting';
  }
}
