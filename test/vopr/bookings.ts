import type { Admission, Intake, IntakeSnapshot, Refusal } from '@webhook-backpressure/core';
import type { Process, World } from './world.ts';

/** From so long before the booked second until so long after it, a retry is on time. */
const EARLY_MS = 1000;
const LATE_MS = 60_000;
/** Bookings of one second, for each per second that the workers have completed at most, and one: a new pace moves them together. */
const MOST = 4;

interface Booking {
  readonly dueMs: number;
  isCounted: boolean;
}

/** The booked retries of an intake, kept apart from the intake. */
export class Bookings {
  readonly #world: World;
  readonly #intake: Intake;
  readonly #process: Process;
  readonly #isAlone: boolean;
  /** By delivery. Undefined: it may be booked or not. */
  readonly #retries = new Map<string, Booking | undefined>();
  readonly #perSecond = new Map<number, number>();
  #withdrawn = 0;
  #highestRate = 0;

  /** @param isAlone - in a fleet, the others change how fast it may book. */
  constructor(world: World, intake: Intake, process: Process, isAlone: boolean) {
    this.#world = world;
    this.#intake = intake;
    this.#process = process;
    this.#isAlone = isAlone;
    intake.subscribe(({ type }) => {
      if (type === 'withdrawn') this.#withdrawn += 1;
    });
  }

  /** Admits a delivery, and compares what that has changed. */
  admit(key: string, id: string): Admission | Refusal {
    const before = this.#intake.snapshot();
    const nowMs = this.#process.clock.now();
    const result = this.#intake.admit({ key, id });
    const after = this.#intake.snapshot();
    this.#checkBooked(before, nowMs);
    const isUnsure = this.#retries.has(id) && this.#retries.get(id) === undefined;
    const retry = this.#retries.get(id);
    if (!isUnsure) this.#checkCounts(id, retry, result.admitted, nowMs, before, after);
    if (result.admitted) this.#retries.delete(id);
    else this.#refused(id, retry, result, nowMs, before, after);
    return result;
  }

  /** A queued delivery was refused. */
  withdrawn(id: string): void {
    this.#retries.set(id, undefined);
  }

  #checkBooked({ booked, drainRate }: IntakeSnapshot, nowMs: number): void {
    let ahead = 0;
    for (const [second, count] of this.#perSecond) if (second >= Math.floor(nowMs / 1000)) ahead += count;
    if (booked < ahead || booked > ahead + this.#withdrawn)
      this.#world.wrong.push(`${String(booked)} retries are reported as booked, and ${String(ahead)} are.`);
    this.#highestRate = Math.max(this.#highestRate, drainRate ?? 0);
  }

  #checkCounts(
    id: string,
    retry: Booking | undefined,
    isAdmitted: boolean,
    nowMs: number,
    before: IntakeSnapshot,
    after: IntakeSnapshot,
  ): void {
    const isCounted = retry !== undefined && !retry.isCounted && isOnTime(retry, nowMs);
    if (isCounted) retry.isCounted = true;
    const { kept, missed } = before.totals.promises;
    const shouldBe = {
      kept: kept + Number(isCounted && isAdmitted),
      missed: missed + Number(isCounted && !isAdmitted),
    };
    const is = after.totals.promises;
    if (is.kept !== shouldBe.kept || is.missed !== shouldBe.missed)
      this.#world.wrong.push(`The retry of ${id} makes ${JSON.stringify({ is, shouldBe })}.`);
  }

  #refused(
    id: string,
    retry: Booking | undefined,
    { reason, retryAfterSeconds }: Refusal,
    nowMs: number,
    before: IntakeSnapshot,
    after: IntakeSnapshot,
  ): void {
    const { wrong } = this.#world;
    const isFull = reason === 'shedding' || reason === 'full';
    if (retry !== undefined && isOnTime(retry, nowMs) && isFull && before.depth < before.highWater)
      wrong.push(`The booked retry of ${id} is refused at a depth of ${String(before.depth)}.`);
    if (retry !== undefined && nowMs < retry.dueMs && (isFull || reason === 'wait')) {
      const leftS = Math.ceil((retry.dueMs - nowMs) / 1000);
      if (retryAfterSeconds !== leftS || after.booked > before.booked)
        wrong.push(
          `The early retry of ${id} gets ${String(retryAfterSeconds)} s, and ${String(leftS)} s are left.`,
        );
      return;
    }
    if (after.booked <= before.booked) {
      this.#retries.set(id, undefined);
      return;
    }
    const dueMs = nowMs + retryAfterSeconds * 1000;
    this.#retries.set(id, { dueMs, isCounted: false });
    const second = Math.floor(dueMs / 1000);
    const count = (this.#perSecond.get(second) ?? 0) + 1;
    this.#perSecond.set(second, count);
    const most = MOST * (1 + this.#highestRate);
    if (this.#isAlone && count > most)
      wrong.push(`${String(count)} retries are booked for one second, and ${most.toFixed(1)} are handled.`);
  }
}

function isOnTime({ dueMs }: Booking, nowMs: number): boolean {
  return nowMs >= dueMs - EARLY_MS && nowMs <= dueMs + LATE_MS;
}
