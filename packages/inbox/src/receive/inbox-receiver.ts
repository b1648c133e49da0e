import { BackpressureError, Deadlines } from '@webhook-backpressure/base';
import { DEFAULT_KEY, deliveryOf } from '@webhook-backpressure/core/extend';
import type { Delivery } from '@webhook-backpressure/core';
import { Handshakes } from './handshakes.ts';
import {
  builtInSenders,
  createRecognition,
  idOf,
  type Recognition,
  type RequestHeaders,
  resolveSenders,
} from '@webhook-backpressure/senders';
import { rawDelivery, type Contents } from '../delivery/inbox-delivery.ts';
import { headersOf, requestFacts } from '../delivery/request-facts.ts';
import { BodyBudget, BodyCollector } from './body-collector.ts';
import { answerHandshake } from './body-handshakes.ts';
import { DeliveryWriter, type DeliveryWriterParts } from './delivery-writer.ts';
import { InboxAdmission, type InboxAdmissionParts } from './inbox-admission.ts';
import { handshakeAnswer, tooLarge, UNVERIFIED, type InboxAnswer } from './inbox-answers.ts';
import type { InboxRequest } from './inbox-request.ts';
import { IncomingDelivery } from './incoming-delivery.ts';
import { StartQueue } from './start-queue.ts';
import { contextOf } from './user-context.ts';
import { verificationFailureOf, type VerificationFailure } from './verification.ts';

/** An unknown sender is answered within this time. */
const DEFAULT_TIMEOUT_MS = 8000;

export type ReceiverParts = InboxAdmissionParts & Omit<DeliveryWriterParts, 'admission'>;

/** Receives deliveries: reads, verifies and stores each, and only then acknowledges it. */
export class InboxReceiver {
  readonly #parts: ReceiverParts;
  readonly #admission: InboxAdmission;
  readonly #writer: DeliveryWriter;
  readonly #recognition: Recognition;
  readonly #deadlines: Deadlines<IncomingDelivery>;
  readonly #budget: BodyBudget;
  readonly #handshakes = new Handshakes();
  readonly #startQueue = new StartQueue();

  constructor(parts: ReceiverParts) {
    const { options, fixtures, settings, now } = parts;
    this.#parts = parts;
    this.#admission = new InboxAdmission(parts);
    this.#writer = new DeliveryWriter({ ...parts, admission: this.#admission });
    this.#recognition = createRecognition([...resolveSenders(options.senders), ...builtInSenders]);
    this.#budget = new BodyBudget(() => settings().maxBodyBytes, now);
    this.#deadlines = new Deadlines<IncomingDelivery>(fixtures.clock, now, this.#expire, () => undefined);
  }

  receive(request: InboxRequest): Promise<InboxAnswer | null> {
    const { now, settings } = this.#parts;
    const nowMs = now();
    this.#parts.report.totals.arrivals += 1;
    const delivery = this.#recognize(request.headers);
    const isHandshake = delivery.handshake === true && this.#handshakes.tryBegin(nowMs);
    if (isHandshake) delivery.priority = 'critical';
    const body = new BodyCollector(settings().maxBodyBytes, this.#budget, () => {
      incoming.answer(this.#admission.refuse('pressure', delivery, delivery.key ?? DEFAULT_KEY));
    });
    const incoming = new IncomingDelivery(delivery, body, () => {
      this.#deadlines.clear(incoming);
      if (isHandshake) this.#handshakes.end();
    });
    this.#deadlines.set(incoming, nowMs + (delivery.maxWaitMs ?? DEFAULT_TIMEOUT_MS), nowMs);
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
    return this.#writer.isBusy;
  }

  /** Resolves when nothing is being stored. */
  idle(): Promise<void> {
    return this.#writer.idle();
  }

  #recognize(headers: RequestHeaders): Delivery {
    const profile = this.#recognition.find(headers);
    return profile === undefined ? { id: idOf(undefined, headers) } : deliveryOf(profile, headers);
  }

  async #answerTo(request: InboxRequest, incoming: IncomingDelivery): Promise<InboxAnswer | null> {
    const { delivery, body } = incoming;
    const { options, settings, report, refuser, now } = this.#parts;
    refuser.arrive(now());
    if (this.#startQueue.isOpen) {
      await this.#startQueue.wait(incoming);
      if (incoming.isOver()) return null;
    }
    // Before the body is read, so that refusing stays cheap. With the body, the key may be another one.
    const early = this.#admission.refusalOf(incoming, delivery.key ?? DEFAULT_KEY, false);
    if (early !== undefined) return early;

    const trouble = await this.#read(request, body);
    if (trouble === 'gone') return null;
    const key = delivery.key ?? DEFAULT_KEY;
    if (trouble === 'overloaded') return this.#admission.refuse('pressure', delivery, key);
    if (trouble === 'too-large') {
      report.totals.tooLarge += 1;
      report.emit({ type: 'too-large', key });
      return tooLarge(settings().maxBodyBytes);
    }
    // From here on the delivery may have been refused already: it took too long, or its body was cut off. Then it is not
    // stored, so that the sender's next attempt is no duplicate.
    if (incoming.isOver()) return null;
    const contents: Contents = {
      request: requestFacts(request),
      context: contextOf(options, request.source),
      headers: headersOf(request.headers),
      rawBody: body.bytes(),
    };
    const raw = rawDelivery(contents);
    const failure = options.verify === false ? undefined : await verificationFailureOf(options.verify, raw);
    if (incoming.isOver()) return null;
    if (failure !== undefined) return this.#reject(failure, delivery, key);
    const reply = await options.handshake?.(raw);
    if (incoming.isOver()) return null;
    if (reply !== undefined && reply !== null) return handshakeAnswer(reply);
    return (
      answerHandshake(delivery.profile?.name, raw) ?? (await this.#writer.write(contents, raw, incoming))
    );
  }

  async #read(
    request: InboxRequest,
    body: BodyCollector,
  ): Promise<'gone' | 'too-large' | 'overloaded' | undefined> {
    const length = request.headers['content-length'];
    if (!body.expect(typeof length === 'string' ? length : undefined)) return body.trouble;
    const end = await request.read(body);
    if (end === 'consumed') {
      throw new BackpressureError(
        'ERR_WBP_BODY_READ',
        `The request body was already consumed by another middleware. ${request.hint}`,
      );
    }
    return body.trouble ?? (end === 'gone' ? 'gone' : undefined);
  }

  #reject(failure: VerificationFailure, delivery: Delivery, key: string): InboxAnswer {
    const { report } = this.#parts;
    const { error, isUndecided, bug } = failure;
    if (isUndecided) {
      report.emit({ type: 'verify-failed', key, error });
      return this.#admission.refuse('pressure', delivery, key);
    }
    report.totals.unverified += 1;
    report.emit({ type: 'unverified', key, error });
    if (bug !== undefined) report.verifyBroken(bug);
    return UNVERIFIED;
  }

  readonly #expire = (incoming: IncomingDelivery): void => {
    const { delivery } = incoming;
    if (incoming.isOver()) return;
    incoming.answer(this.#admission.refuse('wait', delivery, delivery.key ?? DEFAULT_KEY));
    this.#startQueue.leave(incoming);
  };
}
