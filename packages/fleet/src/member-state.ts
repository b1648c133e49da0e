import { isRecord } from '@webhook-backpressure/base';
import type { RefusalNews } from '@webhook-backpressure/core/extend';

const ID_LENGTH = 16;

/** A random id of 16 letters and digits. */
export function memberId(random: () => number): string {
  let id = '';
  while (id.length < ID_LENGTH)
    id += Math.floor(random() * 36 ** 4)
      .toString(36)
      .padStart(4, '0');
  return id;
}

/** What a member lets the others know. A release may add fields, and ignores those that it does not know. */
export interface MemberState {
  /** The options. */
  readonly concurrency: number;
  readonly maxStartsPerSecond: number | null;
  readonly demand: number;
  /** How many deliveries it may handle concurrently now. */
  readonly share: number;
  /** The share that it takes with the answer to this beat, as far as there is room: at least `share`. */
  readonly claim: number;
  readonly hasLeft: boolean;
  /** The state of its refusals. */
  readonly refusals: unknown;
}

export function textOf(state: MemberState): string {
  return JSON.stringify({ v: 1, ...state });
}

/** Empty if there is nothing to tell. */
export function newsTextOf(news: RefusalNews | undefined): string {
  return news === undefined || news.booked.length === 0 ? '' : JSON.stringify(news);
}

/** Undefined for text that no release of this package has written: other programs may write to the registry. */
export function stateOf(text: unknown): MemberState | undefined {
  const data = jsonOf(text);
  if (!isRecord(data)) return undefined;
  const { concurrency, maxStartsPerSecond, demand, share, claim, hasLeft, refusals } = data;
  if (!isCount(concurrency) || !isCount(demand) || !isCount(share) || !isCount(claim)) return undefined;
  const isRate = typeof maxStartsPerSecond === 'number' && maxStartsPerSecond > 0;
  return {
    concurrency: Math.max(1, concurrency),
    maxStartsPerSecond: isRate ? maxStartsPerSecond : null,
    demand,
    share,
    claim: Math.max(share, claim),
    hasLeft: hasLeft === true,
    refusals,
  };
}

/** Undefined if the text is not JSON. */
export function jsonOf(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
