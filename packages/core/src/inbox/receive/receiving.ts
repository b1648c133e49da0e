import { Deadlines } from '../../time/deadlines.ts';
import { DEFAULT_KEY, type Delivery } from '../../delivery/delivery.ts';
import { deliveryOf } from '../../delivery/recognized-delivery.ts';
import { BackpressureError, show } from '../../errors.ts';
import { Handshakes } from '../../queue/handshakes.ts';
import { createRecognition, idOf, type Recognition } from '../../senders/recognition.ts';
import type { Refusal, RefusalReason } from '../../delivery/refusal.ts';
import { resolveSenders } from '../../senders/resolve-senders.ts';
import type { RequestHeaders } from '../../senders/sender-profile.ts';
import { builtInSenders } from '../../senders/profiles/built-in.ts';
import { BodyBudget, BodyCollector } from './body-collector.ts';
import { answerHandshake } from './body-handshakes.ts';
import { GroupCommit } from '../keeping/group-commit.ts';
import type { InboxAnswer, InboxRequest } from '../inbox.ts';
import { acknowledged, handshakeAnswer, tooLarge, UNVERIFIED } from './inbox-answers.ts';
import { rawDelivery, type Contents, type RawDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxOptions } from '../settings/inbox-options.ts';
import type { InboxRefuser } from './inbox-refuser.ts';
import type { InboxReport } from '../report/inbox-report.ts';
import type { InboxFixtures, InboxSettings } from '../settings/inbox-settings.ts';
import { storedBytes, type InboxStore, type Put, type PutResult } from '../store/inbox-store.ts';
import type { Level } from '../keeping/level.ts';
import { namesOf } from './naming.ts';
import { Reception } from './reception.ts';
import { withoutRedacted } from '../settings/redaction.ts';
import { headersOf, requestFacts } from '../delivery/request-facts.ts';
import type { StoreHealth } from '../keeping/store-health.ts';
import type { Storeroom } from '../keeping/storeroom.ts';
import { contextOf } from './user-context.ts';
import { doubtOf, type Doubt } from './verification.ts';

/** A sender that is not known is answered within this. */
const DEFAULT_PATIENCE_MS = 8000;

/** A store may be anybody's: what it did not say in so many words is not acknowledged. */
const RESULTS: ReadonlySet<unknown> = new Set<PutResult>(['stored', 'duplicate', 'conflict', 'full']);

/** What the door works with. */
export interface DoorParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly level: Level;
  readonly room: Storeroom;
  readonly refuser: InboxRefuser;
  readonly report: InboxReport;
  readonly options: InboxOptions<never>;
  readonly fixtures: InboxFixtures;
  readonly settings: () => InboxSettings;
  readonly now: () => number;
  readonly wallMs: () => number;
  /** The wall clock as it is: what is stored of a delivery as the time when it came. */
  readonly receivedAtMs: () => number;
  /** Moves the marks to where they belong now, and judges by them. */
  readonly judge: () => void;
  readonly isOpen: () => boolean;
  /** Whether the store is open by now. */
  readonly isReady: () => boolean;
  /** Something was stored. */
  readonly stored: () => void;
}

/** Takes deliveries in: reads, verifies, stores, and only then acknowledges. */
export class InboxDoor {
  readonly #parts: DoorParts;
  readonly #recognition: Recognition;
  readonly #puts: GroupCommit<Put, PutResult>;
  readonly #deadlines: Deadlines<Reception>;
  readonly #budget: BodyBudget;
  readonly #handshakes = new Handshakes();
  /** Whether callbacks see bodies: one may keep them for longer than it runs, so their memory is not given away. */
  readonly #areBodiesShown: boolean;

  constructor(parts: DoorParts) {
    const { options, fixtures, store, settings, wallMs } = parts;
    this.#parts = parts;
    const { verify, handshake, id, keyGenerator } = options;
    this.#areBodiesShown = [verify === false ? undefined : verify, handshake, id, keyGenerator].some(
      (callback) => callback !== undefined,
    );
    this.#recognition = createRecognition([...resolveSenders(options.senders), ...builtInSenders]);
    this.#budget = new BodyBudget(() => settings().maxBodyBytes, parts.now);
    this.#deadlines = new Deadlines<Reception>(fixtures.clock, parts.now, this.#expire, () => undefined);
    this.#puts = new GroupCommit((batch) => {
      const { intake, maxBytes, maxShelved, maxShelvedBytes } = settings();
      const limits = { capacity: intake.capacity, maxBytes, maxShelved, maxShelvedBytes };
      return store.put(batch, { limits, nowMs: wallMs() });
    });
  }

  receive(request: InboxRequest): Promise<InboxAnswer | null> {
    const { now, settings } = this.#parts;
    const nowMs = now();
    const delivery = this.#recognise(request.headers);
    const isHandshake = delivery.handshake === true && this.#handshakes.tryBegin(nowMs);
    if (isHandshake) delivery.priority = 'critical';
    const body = new BodyCollector(settings().maxBodyBytes, this.#budget, () => {
      reception.answer(this.#refuse('pressure', delivery, delivery.key ?? DEFAULT_KEY));
    });
    const reception = new Reception(delivery, body, () => {
      this.#deadlines.clear(reception);
      if (isHandshake) this.#handshakes.end();
    });
    this.#deadlines.set(reception, nowMs + (delivery.maxWaitMs ?? DEFAULT_PATIENCE_MS), nowMs);
    this.#take(request, reception).then(
      (answer) => {
        reception.answer(answer);
      },
      (error: unknown) => {
        reception.fail(error);
      },
    );
    return reception.answered;
  }

  get isStoring(): boolean {
    return this.#puts.isBusy;
  }

  /** Resolves when nothing is being stored any more. */
  idle(): Promise<void> {
    return this.#puts.idle();
  }

  #recognise(headers: RequestHeaders): Delivery {
    const profile = this.#recognition.find(headers);
    return profile === undefined ? { id: idOf(undefined, headers) } : deliveryOf(profile, headers);
  }

  async #take(request: InboxRequest, reception: Reception): Promise<InboxAnswer | null> {
    const { delivery, body } = reception;
    const { options, settings, report } = this.#parts;
    this.#parts.refuser.retryAfter.arrive(this.#parts.now());
    // Before the body is read: refusing must stay cheap. Who it is can be told better when it has been read.
    const early = this.#refusalOf(delivery, delivery.key ?? DEFAULT_KEY, false);
    if (early !== undefined) return early;

    const trouble = await this.#read(request, body);
    if (trouble === 'gone') return null;
    const key = delivery.key ?? DEFAULT_KEY;
    if (trouble === 'overloaded') return this.#refuse('pressure', delivery, key);
    if (trouble === 'too-large') {
      report.totals.tooLarge += 1;
      report.emit({ type: 'too-large', key });
      return tooLarge(settings().maxBodyBytes);
    }
    // From here on it may have been answered already, with a refusal: it took too long, or its body was cut off. What is
    // not stored then cannot make the sender's next attempt a duplicate.
    if (reception.isOver()) return null;
    const contents: Contents = {
      request: requestFacts(request),
      context: contextOf(options, request.source),
      headers: headersOf(request.headers),
      rawBody: body.bytes(),
    };
    const raw = rawDelivery(contents);
    const doubt = options.verify === false ? undefined : await doubtOf(options.verify, raw);
    if (reception.isOver()) return null;
    if (doubt !== undefined) return this.#reject(doubt, delivery, key);
    const reply = await options.handshake?.(raw);
    if (reception.isOver()) return null;
    if (reply !== undefined && reply !== null) return handshakeAnswer(reply);
    return answerHandshake(delivery.profile?.name, raw) ?? (await this.#store(contents, raw, reception));
  }

  #reject(doubt: Doubt, delivery: Delivery, key: string): InboxAnswer {
    const { report } = this.#parts;
    const { error, isUndecided, flaw } = doubt;
    if (isUndecided) {
      report.emit({ type: 'verify-failed', key, error });
      return this.#refuse('pressure', delivery, key);
    }
    report.totals.unverified += 1;
    report.emit({ type: 'unverified', key, error });
    if (flaw !== undefined) report.verifyBroken(flaw);
    return UNVERIFIED;
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

  async #store(contents: Contents, raw: RawDelivery, reception: Reception): Promise<InboxAnswer | null> {
    const { options, fixtures, settings, refuser, level, report, now, receivedAtMs, health, stored } =
      this.#parts;
    const { delivery } = reception;
    const { profile } = delivery;
    const { id, key, isIdGenerated } = await namesOf(options, raw, delivery);
    Object.assign(delivery, { id: isIdGenerated ? undefined : id, key });
    const sealed = await fixtures.sealing.seal({
      id,
      key,
      isIdGenerated,
      sender: profile?.name,
      request: contents.request,
      context: contents.context,
      headers: withoutRedacted(contents.headers, fixtures.redacts),
      rawBody: contents.rawBody,
      receivedAtMs: receivedAtMs(),
      sealedBy: undefined,
      fingerprint: undefined,
    });
    if (reception.isOver()) return null;

    const late = this.#refusalOf(delivery, key, true);
    if (late !== undefined) return late;
    const isOverflow =
      settings().overflow === 'dead-letter' && this.#shortage(delivery, key, true) !== undefined;
    // What is sealed has bytes that nobody else has seen.
    const isBodyGiven = sealed.sealedBy !== undefined || !this.#areBodiesShown;
    const put: Put = { delivery: sealed, isOverflow, isBodyGiven };
    const amount = { key, bytes: storedBytes(put.delivery) };
    const coming = isOverflow ? undefined : level.begin(amount, this.#isEntitled(delivery, key));
    let result: PutResult | 'failed' = 'failed';
    try {
      reception.beginStoring();
      const told = await this.#puts.add(put, sealed.rawBody.byteLength);
      if (!RESULTS.has(told)) throw new Error(`The store answered ${show(told)} to a put.`);
      result = told;
      health.worked();
    } catch (error) {
      health.failed('put', error);
    } finally {
      reception.endStoring();
      if (coming !== undefined) level.end(coming, result === 'stored');
    }
    if (result === 'failed') return this.#refuse('pressure', delivery, key);
    if (result === 'full') return this.#refuse('full', delivery, key);
    const what = result === 'stored' && isOverflow ? 'overflow' : result;
    report.totals[what] += 1;
    report.emit({ type: what, key, id });
    refuser.retryAfter.redeem(key, delivery);
    refuser.noteAnswer(delivery, false, now());
    if (what === 'stored') stored();
    if (what === 'overflow') this.#parts.room.enter('shelved', amount.bytes);
    return acknowledged(profile, id, result === 'stored' ? 'accepted' : 'duplicate');
  }

  /**
   * The answer to a delivery that is not let in, or undefined when it is.
   *
   * @param isGenuine - whether it has been verified, so that it may ask for a place.
   */
  #refusalOf(delivery: Delivery, key: string, isGenuine: boolean): InboxAnswer | undefined {
    const reason = this.#objection(delivery, key, isGenuine);
    if (reason === undefined) return undefined;
    const refusal = this.#refuse(reason, delivery, key);
    const { fixtures, isOpen, isReady } = this.#parts;
    return fixtures.dryRun && isOpen() && isReady() ? undefined : refusal;
  }

  #objection(delivery: Delivery, key: string, isGenuine: boolean): RefusalReason | undefined {
    const { settings, isOpen, isReady, fixtures } = this.#parts;
    if (!isOpen()) return 'closing';
    if (!isReady()) return 'pressure';
    if (settings().intake.shed.has(key)) return 'shed';
    if (!this.#isEntitled(delivery, key) && fixtures.isPressed()) return 'pressure';
    return settings().overflow === 'dead-letter' ? undefined : this.#shortage(delivery, key, isGenuine);
  }

  /** Whether there is no place for the delivery among the stored. */
  #shortage(delivery: Delivery, key: string, isGenuine: boolean): 'full' | 'shedding' | undefined {
    const { level, judge, refuser, now, options } = this.#parts;
    judge();
    if (level.shedding) refuser.retryAfter.shed(now());
    const isEntitled = this.#isEntitled(delivery, key);
    if (isGenuine) return level.ask(key, isEntitled, now());
    return level.shortage(options.keyGenerator === undefined ? key : undefined, isEntitled);
  }

  /** Whether it may use the reserve: it cannot come back, or was promised a place. */
  #isEntitled(delivery: Delivery, key: string): boolean {
    if (delivery.priority === 'critical' || delivery.retries === false) return true;
    const { refuser, now } = this.#parts;
    return refuser.retryAfter.reservationOf(key, delivery)?.isDue(now()) === true;
  }

  #refuse(reason: RefusalReason, delivery: Delivery, key: string): Refusal {
    const { refuser, now, settings } = this.#parts;
    return refuser.refuse(reason, delivery, key, now(), settings());
  }

  readonly #expire = (reception: Reception): void => {
    const { delivery } = reception;
    if (reception.isOver()) return;
    reception.answer(this.#refuse('wait', delivery, delivery.key ?? DEFAULT_KEY));
  };
}
