import type { Delivery } from '@webhook-backpressure/core';
import { show } from '@webhook-backpressure/base';
import type { FillLevel, IncomingAmount } from '../capacity/fill-level.ts';
import type { FinishedUsage } from '../capacity/finished-usage.ts';
import type { Contents, RawDelivery } from '../delivery/inbox-delivery.ts';
import { storedBytes } from '../delivery/stored-bytes.ts';
import type { StoredDelivery } from '../delivery/stored-delivery.ts';
import type { InboxReport } from '../events/inbox-report.ts';
import type { InboxFixtures, InboxSettings } from '../options/inbox-settings.ts';
import type { ReceivingOptions } from '../options/role-options.ts';
import { withoutRedacted } from '../options/redaction.ts';
import { GroupCommit } from '../store-calls/group-commit.ts';
import type { StoreHealth } from '../store-calls/store-health.ts';
import type { Put, PutResult, ReceivingStore } from '../store/receiving-store.ts';
import { namesOf, type Names } from './delivery-names.ts';
import type { InboxAdmission } from './inbox-admission.ts';
import { acknowledged, type InboxAnswer } from './inbox-answers.ts';
import type { InboxRefuser } from './inbox-refuser.ts';
import type { IncomingDelivery } from './incoming-delivery.ts';

/** Any other result of a store is an error, and never acknowledged. */
const RESULTS: ReadonlySet<unknown> = new Set<PutResult>(['stored', 'duplicate', 'conflict', 'full']);

export interface DeliveryWriterParts {
  readonly store: ReceivingStore;
  readonly health: StoreHealth;
  readonly level: FillLevel;
  readonly finished: FinishedUsage;
  readonly admission: InboxAdmission;
  readonly refuser: InboxRefuser;
  readonly report: InboxReport;
  readonly options: ReceivingOptions;
  readonly fixtures: InboxFixtures;
  readonly settings: () => InboxSettings;
  readonly now: () => number;
  readonly wallMs: () => number;
  /** The unfiltered wall clock, for the time of receipt. */
  readonly receivedAtMs: () => number;
  /** Called after a delivery was stored. */
  readonly stored: () => void;
}

/** Stores verified deliveries, and then acknowledges them. */
export class DeliveryWriter {
  readonly #parts: DeliveryWriterParts;
  readonly #puts: GroupCommit<Put, PutResult>;
  /** Callbacks that get the body may keep it, so its memory is not given to the store. */
  readonly #isBodyShared: boolean;

  constructor(parts: DeliveryWriterParts) {
    const { options, store, settings, wallMs, now, report } = parts;
    this.#parts = parts;
    const { verify, handshake, id, keyGenerator } = options;
    this.#isBodyShared = [verify === false ? undefined : verify, handshake, id, keyGenerator].some(
      (callback) => callback !== undefined,
    );
    this.#puts = new GroupCommit(
      (batch) => {
        const { capacity, maxBytes, maxShelved, maxShelvedBytes } = settings();
        const limits = { capacity, maxBytes, maxShelved, maxShelvedBytes };
        return store.put(batch, { limits, nowMs: wallMs() });
      },
      (deliveries, beganMs) => {
        if (report.listeners.any) report.emit({ type: 'committed', deliveries, tookMs: now() - beganMs });
      },
      now,
    );
  }

  get isBusy(): boolean {
    return this.#puts.isBusy;
  }

  /** Resolves when it is not busy. */
  idle(): Promise<void> {
    return this.#puts.idle();
  }

  /** Resolves with the answer, or with null when the delivery was answered meanwhile. */
  async write(contents: Contents, raw: RawDelivery, incoming: IncomingDelivery): Promise<InboxAnswer | null> {
    const { options, fixtures, admission, level } = this.#parts;
    const { delivery } = incoming;
    const names = await namesOf(options, raw, delivery);
    const { id, key, isIdGenerated } = names;
    Object.assign(delivery, { id: isIdGenerated ? undefined : id, key });
    const stored = await fixtures.encryption.encrypt(this.#storedDelivery(contents, names, delivery));
    if (incoming.isOver()) return null;

    const refusal = admission.refusalOf(incoming, key, true);
    if (refusal !== undefined) return refusal;
    const isOverflow = admission.isOverflow(delivery, key);
    // No callback has seen the encrypted bytes.
    const isBodyGiven = stored.sealedBy !== undefined || !this.#isBodyShared;
    const amount = { key, bytes: storedBytes(stored) };
    const counted = isOverflow ? undefined : level.begin(amount);
    const result = await this.#put({ delivery: stored, isOverflow, isBodyGiven }, incoming, counted);
    if (result === 'failed') return admission.refuse('pressure', delivery, key);
    if (result === 'full') return admission.refuse('full', delivery, key);
    if (result === 'stored' && isOverflow) this.#parts.finished.add('shelved', amount.bytes);
    return this.#acknowledge(result, isOverflow, names, delivery);
  }

  #storedDelivery(contents: Contents, names: Names, { profile }: Delivery): StoredDelivery {
    const { fixtures, receivedAtMs } = this.#parts;
    const { request, context, headers, rawBody } = contents;
    return {
      ...names,
      sender: profile?.name,
      ...{ request, context, headers: withoutRedacted(headers, fixtures.redacts), rawBody },
      receivedAtMs: receivedAtMs(),
      sealedBy: undefined,
      fingerprint: undefined,
    };
  }

  async #put(
    put: Put,
    incoming: IncomingDelivery,
    counted: IncomingAmount | undefined,
  ): Promise<PutResult | 'failed'> {
    const { health, level } = this.#parts;
    let result: PutResult | 'failed' = 'failed';
    try {
      incoming.beginStoring();
      const answer = await this.#puts.add(put, put.delivery.rawBody.byteLength);
      if (!RESULTS.has(answer)) throw new Error(`The store returned ${show(answer)} for a put.`);
      result = answer;
      health.worked();
    } catch (error) {
      health.failed('put', error);
    } finally {
      incoming.endStoring();
      if (counted !== undefined) level.end(counted, result === 'stored');
    }
    return result;
  }

  #acknowledge(
    result: 'stored' | 'duplicate' | 'conflict',
    isOverflow: boolean,
    { id, key }: Names,
    delivery: Delivery,
  ): InboxAnswer {
    const { report, refuser, settings, now, stored } = this.#parts;
    const type = result === 'stored' && isOverflow ? 'overflow' : result;
    report.totals[type] += 1;
    report.emit({ type, key, sender: delivery.profile?.name, id });
    refuser.retryAfter.promises.admitted({ delivery, key, nowMs: now() });
    refuser.noteAnswer(delivery, key, false, now());
    if (type === 'stored') stored();
    const answer = result === 'stored' ? 'accepted' : 'duplicate';
    return acknowledged(delivery.profile ?? {}, settings().successStatus, id, answer);
  }
}
