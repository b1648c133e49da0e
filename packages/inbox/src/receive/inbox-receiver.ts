import { DEFAULT_KEY, deliveryOf } from '@webhook-backpressure/core/extend';
import type { Delivery } from '@webhook-backpressure/core';
import { BackpressureError, Deadlines } from '@webhook-backpressure/base';
import {
  asksPermission,
  builtInSenders,
  cloudEventsHandshake,
  createRecognition,
  idOf,
  type Recognition,
  resolveSenders,
} from '@webhook-backpressure/senders';
import type { IncomingAmount } from '../capacity/fill-level.ts';
import type { InboxState } from '../capacity/inbox-state.ts';
import { rawDelivery, type Contents, type RawDelivery } from '../delivery/inbox-delivery.ts';
import { headersOf, requestFacts } from '../delivery/request-facts.ts';
import type { StoredDelivery } from '../delivery/stored-delivery.ts';
import { storedBytes } from '../delivery/stored-bytes.ts';
import { withoutRedacted } from '../options/inbox-settings.ts';
import type { ReceivingOptions } from '../options/roles.ts';
import { GroupCommit } from '../store-calls/group-commit.ts';
import { checkedPut } from '../store-calls/store-errors.ts';
import type { Put, PutResult } from '../store/receiving-store.ts';
import { contextOf, namesOf, notBeforeMsOf, verifierOf } from './delivery-fields.ts';
import { answerHandshake, Handshakes } from './handshakes.ts';
import type { InboxAdmission } from './inbox-admission.ts';
import { acknowledged, handshakeAnswer, tooLarge, UNVERIFIED, type InboxAnswer } from './inbox-answers.ts';
import type { BodyEnd, InboxRequest } from './inbox-request.ts';
import { BodyBudget, IncomingDelivery, StartQueue } from './incoming-delivery.ts';
import { verificationFailureOf, type VerificationFailure } from './verification.ts';

/** An unknown sender is answered within this time. */
const DEFAULT_TIMEOUT_MS = 8000;

/** Receives deliveries: reads, verifies and stores each, and only then acknowledges it. */
export class InboxReceiver {
  readonly #inbox: InboxState;
  readonly #options: ReceivingOptions;
  readonly #admission: InboxAdmission;
  readonly #stored: (key: string) => void;
  readonly #recognition: Recognition;
  readonly #permission: ReturnType<typeof cloudEventsHandshake>;
  readonly #deadlines: Deadlines<IncomingDelivery>;
  readonly #budget: BodyBudget;
  readonly #handshakes = new Handshakes();
  readonly #startQueue = new StartQueue();
  readonly #puts: GroupCommit<Put, PutResult>;

  /** @param stored - called after a delivery was stored. */
  constructor(
    inbox: InboxState,
    options: ReceivingOptions,
    admission: InboxAdmission,
    stored: (key: string) => void,
  ) {
    const { clock, now, report, store, wall } = inbox;
    this.#inbox = inbox;
    this.#options = options;
    this.#admission = admission;
    this.#stored = stored;
    this.#recognition = createRecognition([...resolveSenders(options.senders), ...builtInSenders]);
    this.#permission = cloudEventsHandshake({ snapshot: () => inbox }, options.allowedOrigins);
    this.#budget = new BodyBudget(
      () => inbox.settings.maxBodyBytes,
      now,
      (incoming) => {
        incoming.answer(this.#refuse('pressure', incoming.delivery));
      },
    );
    this.#deadlines = new Deadlines<IncomingDelivery>(clock, now, this.#expire, () => undefined);
    this.#puts = new GroupCommit(
      (batch) => {
        const { capacity, maxBytes, maxDeadLetters, maxDeadLetterBytes } = inbox.settings;
        const limits = { capacity, maxBytes, maxDeadLetters, maxDeadLetterBytes };
        return store.put(batch, { limits, nowMs: wall.trustedMs() });
      },
      (deliveries, beganMs) => {
        if (report.listeners.any) report.emit({ type: 'committed', deliveries, tookMs: now() - beganMs });
      },
      now,
    );
  }

  receive(request: InboxRequest): Promise<InboxAnswer | null> {
    const { now, settings, report } = this.#inbox;
    const { method, headers } = request;
    if (asksPermission(method, headers)) return Promise.resolve(this.#permission(headers));
    const nowMs = now();
    report.totals.arrivals += 1;
    const profile = this.#recognition.find(headers);
    const delivery: Delivery =
      profile === undefined ? { id: idOf(undefined, headers) } : deliveryOf(profile, headers);
    delivery.key = verifierOf(this.#options.verify).key ?? delivery.key;
    const isHandshake = delivery.handshake === true && this.#handshakes.tryBegin(nowMs);
    if (isHandshake) delivery.priority = 'critical';
    const incoming = new IncomingDelivery(delivery, this.#budget, settings.maxBodyBytes, () => {
      this.#deadlines.clear(incoming);
      if (isHandshake) this.#handshakes.end();
    });
    this.#deadlines.set(incoming, nowMs + (delivery.maxWaitMs ?? DEFAULT_TIMEOUT_MS), nowMs);
    this.#admission.arrive(nowMs);
    this.#answerTo(request, incoming).then(
      (answer) => {
        incoming.answer(answer);
      },
      (error: unknown) => {
        incoming.fail(error);
      },
    );
    return incoming.answered;
  }

  /** The first attempt to open the store has ended, or the inbox closes: deliveries that waited for it go on. */
  endStart(): void {
    this.#startQueue.end();
  }

  get isStoring(): boolean {
    return this.#puts.isBusy;
  }

  /** Resolves when nothing is being stored. */
  idle(): Promise<void> {
    return this.#puts.idle();
  }

  async #answerTo(request: InboxRequest, incoming: IncomingDelivery): Promise<InboxAnswer | null> {
    const { delivery } = incoming;
    if (this.#startQueue.isOpen) {
      await this.#startQueue.wait(incoming);
      if (incoming.isOver()) return null;
    }
    // Before the body is read, so that refusing stays cheap. With the body, the key may be another one.
    const early = this.#admission.refusalOf(delivery, delivery.key ?? DEFAULT_KEY, false);
    if (early !== undefined) return early;
    const end = await this.#read(request, incoming);
    if (incoming.trouble === 'overloaded') return this.#refuse('pressure', delivery);
    if (incoming.trouble === 'too-large') return this.#refuseSize(delivery);
    if (end === 'gone') return null;
    // From here on the delivery may have been refused already: it took too long, or its body was cut off. Then it is not
    // stored, so that the sender's next attempt is no duplicate.
    if (incoming.isOver()) return null;
    const { verify, handshake } = this.#options;
    const contents: Contents = {
      request: requestFacts(request),
      context: contextOf(this.#options, request.source),
      headers: headersOf(request.headers),
      rawBody: incoming.body(),
    };
    const raw = rawDelivery(contents);
    const failure = verify === false ? undefined : await verificationFailureOf(verify, raw);
    if (incoming.isOver()) return null;
    if (failure !== undefined) return this.#reject(failure, delivery);
    const reply = await handshake?.(raw);
    if (incoming.isOver()) return null;
    if (reply !== undefined && reply !== null) return handshakeAnswer(reply);
    return answerHandshake(delivery.profile?.name, raw) ?? (await this.#write(contents, raw, incoming));
  }

  async #read(request: InboxRequest, incoming: IncomingDelivery): Promise<BodyEnd> {
    if (Number(request.headers['content-length']) > this.#inbox.settings.maxBodyBytes) {
      incoming.trouble = 'too-large';
      return 'whole';
    }
    const end = await request.read(incoming);
    if (end !== 'consumed') return end;
    throw new BackpressureError(
      'ERR_WBP_BODY_READ',
      `The request body was already consumed by another middleware. ${request.hint}`,
    );
  }

  /** Stores a verified delivery. Resolves with the answer, or with null when the delivery was answered meanwhile. */
  async #write(
    contents: Contents,
    raw: RawDelivery,
    incoming: IncomingDelivery,
  ): Promise<InboxAnswer | null> {
    const { fixtures, encryption, wall, level, finished, report, settings } = this.#inbox;
    const { delivery } = incoming;
    const { id, key, isIdGenerated } = await namesOf(this.#options, raw, delivery);
    delivery.id = isIdGenerated ? undefined : id;
    delivery.key = key;
    const sender = delivery.profile?.name;
    const plain: StoredDelivery = {
      id,
      key,
      isIdGenerated,
      sender,
      request: contents.request,
      context: contents.context,
      headers: withoutRedacted(contents.headers, fixtures.redacts),
      rawBody: contents.rawBody,
      receivedAtMs: wall.rawMs(),
      sealedBy: undefined,
      fingerprint: undefined,
    };
    const notBeforeMs = notBeforeMsOf(this.#options, plain);
    const stored = await encryption.encrypt({ ...plain, ...(notBeforeMs !== undefined && { notBeforeMs }) });
    if (incoming.isOver()) return null;

    const refusal = this.#admission.refusalOf(delivery, key, true);
    if (refusal !== undefined) return refusal;
    const isOverflow = settings.overflow === 'dead-letter' && this.#admission.isOverflow(delivery, key);
    const bytes = storedBytes(stored);
    const counted = isOverflow ? undefined : level.begin({ key, bytes });
    const result = await this.#put({ delivery: stored, isOverflow }, incoming, counted);
    if (result === 'failed') return this.#refuse('pressure', delivery);
    if (result === 'full') return this.#refuse('full', delivery);
    const isNew = result === 'stored';
    if (isNew && isOverflow) finished.add('deadLetters', bytes);
    const type = isNew && isOverflow ? 'overflow' : result;
    report.totals[type] += 1;
    report.emit({ type, key, sender, id });
    this.#admission.acknowledged(delivery, key);
    if (type === 'stored') this.#stored(key);
    const status = isNew ? 'accepted' : 'duplicate';
    return acknowledged(delivery.profile?.success, settings.successStatus, id, status);
  }

  async #put(
    put: Put,
    incoming: IncomingDelivery,
    counted: IncomingAmount | undefined,
  ): Promise<PutResult | 'failed'> {
    const { receivingHealth, level } = this.#inbox;
    let result: PutResult | 'failed' = 'failed';
    try {
      incoming.storing(true);
      result = checkedPut(await this.#puts.add(put, put.delivery.rawBody.byteLength));
      receivingHealth.worked();
    } catch (error) {
      receivingHealth.failed('put', error);
    } finally {
      incoming.storing(false);
      if (counted !== undefined) level.end(counted, result === 'stored');
    }
    return result;
  }

  #refuse(reason: 'pressure' | 'full' | 'wait', delivery: Delivery): InboxAnswer {
    return this.#admission.refuse(reason, delivery, delivery.key ?? DEFAULT_KEY);
  }

  #refuseSize({ key = DEFAULT_KEY }: Delivery): InboxAnswer {
    const { report, settings } = this.#inbox;
    report.totals.tooLarge += 1;
    report.emit({ type: 'too-large', key });
    return tooLarge(settings.maxBodyBytes);
  }

  #reject({ error, isUndecided, isBug, why, reason }: VerificationFailure, delivery: Delivery): InboxAnswer {
    const { report } = this.#inbox;
    const { key = DEFAULT_KEY } = delivery;
    if (isUndecided) {
      report.emit({ type: 'verify-failed', key, error });
      return this.#refuse('pressure', delivery);
    }
    report.totals.unverified += 1;
    report.emit({ type: 'unverified', key, error });
    report.verifyFailed(isBug, why, reason);
    return UNVERIFIED;
  }

  readonly #expire = (incoming: IncomingDelivery): void => {
    if (incoming.isOver()) return;
    incoming.answer(this.#refuse('wait', incoming.delivery));
    this.#startQueue.leave(incoming);
  };
}
