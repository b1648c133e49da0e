import type { Favor } from '../delivery/favor.ts';
import { StartShare } from './start-share.ts';

/** A line as {@link FavoredLines} sees it. */
export interface Favored {
  /** The deliveries in it. */
  readonly size: number;
  /** On which ground it is favored. Set by {@link FavoredLines.place}. */
  favor: Favor;
}

/** The most starts of lines that are favored by claim, in tenths, including their own turns. */
const CLAIMED_TENTHS = 5;
/** The most starts of hurried lines, which count toward those by claim. */
const HURRIED_TENTHS = CLAIMED_TENTHS;
/** And of all favored lines together. */
const ALL_TENTHS = 8;
/** Beside authentic lines, those by claim get this part of the starts before them. */
const CLAIMED_FIRST_TENTHS = 2;

/**
 * The lines of senders that never retry, which get more than their turns while shedding: a sender that retries loses
 * time by a longer wait, one that never retries loses the delivery. Before them come the lines of senders that would
 * disable the endpoint without a success.
 *
 * They get at most half of the starts, including their own turns. So the others get at least half, however many
 * deliveries claim to be from such a sender. Where the user vouches for the claim, it is eight tenths. If lines of both
 * kinds are queued, those by claim get only two tenths of the starts before the authentic ones, since they may be forged.
 */
export class FavoredLines<L extends Favored> {
  /** Whether the intake sheds. */
  isOn = false;
  /** In the order of their next start. */
  readonly #claimed = new Set<L>();
  readonly #authentic = new Set<L>();
  readonly #claimedStarts = new StartShare(CLAIMED_TENTHS);
  readonly #claimedFirst = new StartShare(CLAIMED_FIRST_TENTHS);
  readonly #allStarts = new StartShare(ALL_TENTHS);
  /** The lines whose next delivery starts before those of all others, in the order in which they were hurried. */
  readonly #hurried = new Set<L>();
  readonly #hurriedStarts = new StartShare(HURRIED_TENTHS);

  /** Favors the line from now on by the ground of its next delivery. */
  place(line: L, favor: Favor): void {
    if (line.favor === favor) return;
    this.#setOf(line.favor)?.delete(line);
    line.favor = favor;
    this.#setOf(favor)?.add(line);
  }

  /** The next delivery of the line starts as soon as the share of these lines allows. */
  hurry(line: L): void {
    this.#hurried.add(line);
  }

  isHurried(line: L): boolean {
    return this.#hurried.has(line);
  }

  /** The line has no turns any more. */
  delete(line: L): void {
    this.place(line, 'none');
    this.#hurried.delete(line);
  }

  /**
   * The line that may start a delivery beyond its turns, or null if the turns decide.
   *
   * @param lines - all lines that have turns. If only favored ones are queued, they share all starts.
   */
  next(lines: number): L | null {
    if (this.#hurriedStarts.isDue && this.#hurried.size > 0) return firstOf(this.#hurried);
    if (!this.isOn) return null;
    const hasOthers = lines > this.#claimed.size + this.#authentic.size;
    if (hasOthers && !this.#allStarts.isDue) return null;
    const claimed = this.#claimedStarts.isDue ? firstOf(this.#claimed) : null;
    if (claimed !== null && this.#claimedFirst.isDue) return claimed;
    return firstOf(this.#authentic) ?? claimed;
  }

  /** A delivery of the line starts. */
  started(line: L): void {
    const { favor } = line;
    const isHurried = this.#hurried.delete(line);
    this.#hurriedStarts.note(isHurried);
    this.#allStarts.note(isHurried || favor !== 'none');
    this.#claimedStarts.note(isHurried || favor === 'claimed');
    this.#claimedFirst.note(favor === 'claimed');
    const lines = this.#setOf(favor);
    if (lines === undefined) return;
    lines.delete(line);
    lines.add(line);
  }

  /**
   * How many deliveries start until one that joined the line now does, at most: for each before it in the line and for
   * itself, one of every other line of its kind. Infinity if the line is not favored.
   *
   * @param line - undefined if the delivery would be the first one of its key.
   */
  startsUntil(line: L | undefined, favor: Favor): number {
    const lines = this.#setOf(favor);
    if (!this.isOn || lines === undefined || (line !== undefined && line.favor !== favor)) return Infinity;
    const tenths =
      favor === 'claimed'
        ? this.#authentic.size > 0
          ? CLAIMED_FIRST_TENTHS
          : CLAIMED_TENTHS
        : this.#claimed.size > 0
          ? ALL_TENTHS - CLAIMED_FIRST_TENTHS
          : ALL_TENTHS;
    const rounds = (line?.size ?? 0) + 1;
    return (rounds * (line === undefined ? lines.size + 1 : lines.size) * 10) / tenths;
  }

  #setOf(favor: Favor): Set<L> | undefined {
    if (favor === 'none') return undefined;
    return favor === 'claimed' ? this.#claimed : this.#authentic;
  }
}

function firstOf<L>(lines: Set<L>): L | null {
  if (lines.size === 0) return null;
  for (const line of lines) return line;
  return null;
}
