import { thrownText } from '@webhook-backpressure/base';
import type { FleetSnapshot, FleetState, Tunable } from '@webhook-backpressure/core';
import {
  type FleetHandle,
  type FleetMembership,
  type RefusalExchange,
  SharedRefusals,
} from '@webhook-backpressure/core/extend';
import { Beats } from './beats.ts';
import type { FleetSettings } from './fleet-options.ts';
import { jsonOf, memberId, newsTextOf, textOf } from './member-state.ts';
import { OwnLimits, type Grant } from './own-limits.ts';
import { MEMBER_MS, type FleetBeat, type FleetView } from './registry.ts';
import { floorOf, Share, SmoothedDemand } from './shares.ts';
import { Roster, View } from './view.ts';

const SAMPLE_MS = 500;
/** Without the registry, a member takes more than it had only when all others have taken less. */
const EQUAL_MS = MEMBER_MS + 3000;
const LEAVE_LIMIT_MS = 1000;

/** An intake as a member of a fleet: its demand, its beats, and the share that follows from them. */
export class Member implements FleetMembership {
  readonly #intake: FleetHandle;
  readonly #settings: FleetSettings;
  readonly #id: string;
  readonly #own: OwnLimits;
  readonly #beats: Beats;
  readonly #roster: Roster = new Roster();
  readonly #demand: SmoothedDemand = new SmoothedDemand();
  readonly #share: Share;
  #view: View;
  #state: FleetState = 'joining';
  /** When the last beat that was answered began; before the first one, when the member joined. */
  #answeredAtMs: number;
  #sampledAtMs = -Infinity;
  /** What the last beat has reported. */
  #reported: { readonly used: number; readonly demand: number };
  #refusals: RefusalExchange | undefined;
  #lastError = '';
  #hasAnswered = false;
  #applied = '';
  #leaving: Promise<void> | undefined;
  #timer: unknown;

  constructor(intake: FleetHandle, settings: FleetSettings) {
    const { clock, random, limits } = intake;
    const now = (): number => intake.now();
    this.#intake = intake;
    this.#settings = settings;
    this.#id = memberId(random);
    this.#own = new OwnLimits(limits);
    this.#view = new View(this.#id, settings, []);
    this.#share = new Share(floorOf(settings.concurrency, settings.instances));
    this.#reported = { used: this.#share.held, demand: 0 };
    this.#answeredAtMs = now();
    this.#beats = new Beats({
      registry: settings.registry,
      clock,
      now,
      random,
      compose: (number) => this.#compose(number),
      answered: (view, sentAtMs) => {
        this.#answered(view, sentAtMs);
      },
      failed: (error) => {
        this.#failed(error);
      },
    });
  }

  begin(): void {
    const intake = this.#intake;
    this.#refusals = new SharedRefusals(intake.retryAfter, (nowMs) => intake.situation(nowMs));
    intake.join(this);
    this.#apply();
    this.#tick();
  }

  leave(): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  revise(changes: Tunable): Tunable {
    return this.#own.revise(changes, this.#grant());
  }

  snapshot(): FleetSnapshot {
    const now = this.#intake.now();
    const { concurrency, maxStartsPerSecond = null, others } = this.#view;
    const share = this.#share.held;
    const self = { member: this.#id, share, demand: this.#reported.demand, ageMs: 0 };
    const known = others.map(({ member, state, atMs }) => {
      return { member, share: state.share, demand: state.demand, ageMs: Math.max(0, now - atMs) };
    });
    return {
      state: this.#state,
      resource: this.#settings.resource,
      member: this.#id,
      concurrency,
      maxStartsPerSecond,
      share,
      shareOfMaxStarts: this.#view.rateOf(share) ?? null,
      lostMs: this.#state === 'lost' ? now - this.#answeredAtMs : 0,
      members: [...known, self].sort((a, b) => (a.member < b.member ? -1 : 1)),
    };
  }

  /** Runs about twice a second. */
  readonly #tick = (): void => {
    if (this.#hasLeft()) return;
    const { clock } = this.#intake;
    clock.clearTimeout(this.#timer);
    const now = this.#intake.now();
    if (now - this.#sampledAtMs >= SAMPLE_MS) this.#sample(now);
    if (now - this.#answeredAtMs >= MEMBER_MS) this.#miss(now);
    this.#beats.send(now);
    if (this.#hasLeft()) return;
    const lossMs = this.#answeredAtMs + MEMBER_MS;
    const next = Math.min(this.#sampledAtMs + SAMPLE_MS, this.#beats.dueMs, lossMs > now ? lossMs : Infinity);
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(this.#tick, Math.max(0, next - now));
  };

  /** It may leave at any event that it reports. */
  #hasLeft(): boolean {
    return this.#state === 'left';
  }

  #sample(now: number): void {
    this.#sampledAtMs = now;
    this.#demand.note(Math.min(this.#intake.wanted, this.#view.concurrency), now);
    // Otherwise a burst, or what has become free for the others, waits for the next beat.
    const isBurst = this.#ownDemand() > Math.max(this.#reported.demand, this.#share.held);
    if (isBurst || this.#used < this.#reported.used) this.#beats.hurry();
  }

  /** A share that has become smaller than the number of active deliveries is not free before they end. */
  get #used(): number {
    return Math.max(this.#share.held, this.#intake.active);
  }

  #ownDemand(): number {
    const { concurrency } = this.#view;
    return this.#demand.report(Math.min(concurrency, this.#own.most), concurrency);
  }

  #compose(number: number): FleetBeat {
    const { concurrency, maxStartsPerSecond = null, resource } = this.#settings;
    const hasLeft = this.#state === 'left';
    const demand = hasLeft ? 0 : this.#ownDemand();
    // What it has lost, or not yet seen, says nothing about what there is to claim.
    if (this.#state === 'joined') this.#share.aim(this.#view.target(demand));
    const { held: share } = this.#share;
    const used = this.#used;
    const claim = Math.max(this.#share.claim, used);
    this.#reported = { used, demand };
    const now = this.#intake.now();
    const refusals = this.#refusals?.state(now);
    const state = textOf({ concurrency, maxStartsPerSecond, demand, share, claim, hasLeft, refusals });
    const news = newsTextOf(this.#refusals?.news(now));
    return { resource, member: this.#id, number, state, news, seen: this.#roster.seen };
  }

  #answered(found: FleetView, sentAtMs: number): void {
    const now = this.#intake.now();
    const before = this.#state;
    const isFirst = !this.#hasAnswered;
    const lostMs = now - this.#answeredAtMs;
    const old = this.#view;
    if (before === 'lost') this.#roster.expect(old.others, (member) => old.equal(member), now);
    const news = this.#roster.learn(found, this.#id, now);
    this.#view = new View(this.#id, this.#settings, this.#roster.at(now));
    this.#refusals?.delivered();
    const others = this.#view.others.map(({ state }) => state.refusals);
    this.#refusals?.learn({ others, news: news.map((one) => jsonOf(one.news)) }, now);
    this.#answeredAtMs = sentAtMs;
    this.#hasAnswered = true;
    this.#state = 'joined';
    const target = this.#view.target(this.#reported.demand);
    this.#share.settle(target, this.#view.room);
    this.#apply();
    // The others need to know what has become free, or this member may claim more.
    if (this.#used < this.#reported.used || target > this.#share.claim) this.#beats.hurry();
    const { resource } = this.#settings;
    const members = this.#view.size;
    if (isFirst) this.#intake.report({ type: 'fleet-joined', resource, members });
    else if (before === 'lost') this.#intake.report({ type: 'fleet-restored', resource, members, lostMs });
    this.#warn();
    this.#tick();
  }

  #failed(error: unknown): void {
    this.#lastError = thrownText(error);
    if (this.#state === 'joining') this.#takeEqual(Infinity);
    this.#tick();
  }

  /** The registry has not answered for as long as a member is seen by others. */
  #miss(now: number): void {
    const isNew = this.#state !== 'lost';
    this.#state = 'lost';
    this.#takeEqual(now - this.#answeredAtMs >= EQUAL_MS ? Infinity : this.#share.held);
    if (!isNew) return;
    const { resource } = this.#settings;
    this.#intake.report({ type: 'fleet-lost', resource, share: this.#share.held, error: this.#lastError });
  }

  /** Takes an equal share, but at most so much. */
  #takeEqual(most: number): void {
    const { concurrency, instances } = this.#settings;
    const equal = this.#hasAnswered ? this.#view.equal() : Math.max(1, Math.floor(concurrency / instances));
    this.#share.held = Math.min(most, equal);
    this.#apply();
  }

  #grant(): Grant {
    const { held } = this.#share;
    return { concurrency: held, maxStartsPerSecond: this.#view.rateOf(held) };
  }

  #apply(): void {
    const limits = this.#own.under(this.#grant());
    const text = JSON.stringify(limits);
    if (text === this.#applied) return;
    this.#applied = text;
    this.#intake.limit(limits);
  }

  #warn(): void {
    const { warnings } = this.#intake;
    const { resource, concurrency, maxStartsPerSecond = null } = this.#settings;
    const { others, size } = this.#view;
    const now = this.#intake.now();
    if (size > this.#view.concurrency) warnings.ofFleetSize(resource, size, this.#view.concurrency, now);
    if (
      others.some(
        ({ state }) => state.concurrency !== concurrency || state.maxStartsPerSecond !== maxStartsPerSecond,
      )
    )
      warnings.ofFleetLimits(resource, now);
  }

  async #leave(): Promise<void> {
    const { clock, isOpen } = this.#intake;
    clock.clearTimeout(this.#timer);
    this.#state = 'left';
    this.#intake.part();
    this.#refusals?.leave();
    // An intake that is closing keeps its limits until the end.
    if (isOpen) this.#intake.limit(this.#own.restored(this.#grant()));
    await this.#beats.end(LEAVE_LIMIT_MS);
  }
}
