import { Pinned, SERVER_CORE } from './pinned.ts';
import { progress } from './command-line.ts';
import { measureStored } from './inbox/measure-stored.ts';
import type { Comparison, MemoryMeasure, Side } from './plan.ts';
import { sideName, type Rates } from './rounds.ts';
import { median } from './statistics.ts';

/** One line of `results.json`. */
export interface Figure {
  /** The median of the rounds: per second, bytes, or milliseconds. */
  readonly ours: number;
  /** Likewise for what it is compared with; for memory, what it may come to. */
  readonly base: number;
  /** ours ÷ base. */
  readonly ratio: number;
  /** The smallest and the largest ratio of a round. */
  readonly min: number;
  readonly max: number;
  readonly unit: string;
}

/** A figure with what the report says about it. */
export interface Result extends Figure {
  readonly name: string;
  readonly baseIs: string;
  readonly target: string;
  readonly isMet: boolean;
  readonly peers: readonly PeerResult[];
}

export interface PeerResult {
  readonly name: string;
  readonly value: number;
  readonly ratio: number;
  readonly min: number;
  readonly max: number;
}

/** What `results.json` holds, and `--json` prints. */
export function figuresOf(results: readonly Result[]): Record<string, Figure> {
  return Object.fromEntries(
    results.map(({ name, ours, base, ratio, min, max, unit }) => [
      name,
      { ours, base, ratio, min, max, unit },
    ]),
  );
}

export function judge(comparison: Comparison, rates: Rates, withPeers: boolean): Result {
  const { name, baseIs, target, targetRate, targetMs, unit = 'per second' } = comparison;
  const { value: ours, base, ...spread } = compare(rates, comparison.ours, comparison.base);
  const wanted = [
    ...(target === undefined
      ? []
      : [{ text: `ratio ≥ ${target.toFixed(2)}`, isMet: spread.ratio >= target }]),
    ...(targetRate === undefined
      ? []
      : [{ text: `≤ ${(1e6 / targetRate).toFixed(1)} µs`, isMet: ours >= targetRate }]),
    ...(targetMs === undefined ? [] : [{ text: `≤ ${String(targetMs)} ms`, isMet: ours <= targetMs }]),
  ];
  return {
    name,
    ours: legible(ours),
    base: legible(base),
    ...spread,
    unit,
    baseIs,
    target: wanted.map(({ text }) => text).join(', '),
    isMet: wanted.every(({ isMet }) => isMet),
    peers: withPeers
      ? comparison.peers.map((peer) => {
          const { value, ratio, min, max } = compare(rates, peer.side, peer.base);
          return { name: peer.name, value: legible(value), ratio, min, max };
        })
      : [],
  };
}

function compare(
  rates: Rates,
  side: Side,
  against: Side,
): { value: number; base: number; ratio: number; min: number; max: number } {
  const own = rates.get(sideName(side)) ?? [];
  const others = rates.get(sideName(against)) ?? [];
  const ratios = own.map((rate, round) => rate / (others[round] ?? NaN));
  const value = median(own);
  const base = median(others);
  return {
    value,
    base,
    ratio: rounded(value / base),
    min: rounded(Math.min(...ratios)),
    max: rounded(Math.max(...ratios)),
  };
}

/** Each time in a fresh process: what one left behind is not to be counted for the next. */
export async function measureMemory(measures: readonly MemoryMeasure[], rounds: number): Promise<Result[]> {
  const results: Result[] = [];
  for (const measure of measures) {
    progress(measure.name);
    const bytes = await takeMemory(measure.measure, rounds);
    const peers: PeerResult[] = [];
    for (const peer of measure.peers) {
      const own = await takeMemory(peer.measure, rounds);
      const spread = spreadOf(own, measure.limit);
      peers.push({ name: peer.name, value: Math.round(median(own)), ...spread });
    }
    results.push(judgeMemory(measure, bytes, peers));
  }
  return results;
}

function judgeMemory(
  { name, limit, what }: MemoryMeasure,
  bytes: readonly number[],
  peers: readonly PeerResult[],
): Result {
  const ours = Math.round(median(bytes));
  return {
    name,
    ours,
    base: limit,
    ...spreadOf(bytes, limit),
    unit: 'bytes',
    baseIs: `what it may come to: ${what}`,
    target: `≤ ${limit.toLocaleString('en')} bytes`,
    isMet: ours <= limit,
    peers,
  };
}

function spreadOf(bytes: readonly number[], limit: number): { ratio: number; min: number; max: number } {
  return {
    ratio: rounded(median(bytes) / limit),
    min: rounded(Math.min(...bytes) / limit),
    max: rounded(Math.max(...bytes) / limit),
  };
}

async function takeMemory(measure: string, rounds: number): Promise<number[]> {
  if (measure === 'stored') return measureStored(rounds);
  const bytes: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const child = new Pinned('memory/child.js', [], { core: SERVER_CORE, nodeFlags: ['--expose-gc'] });
    try {
      bytes.push(await child.ask<number>({ measure }));
    } finally {
      await child.stop();
    }
  }
  return bytes;
}

/** An integer, unless the ratio could not be computed from it. */
function legible(value: number): number {
  return value < 10_000 ? Number(value.toPrecision(6)) : Math.round(value);
}

function rounded(ratio: number): number {
  return Number(ratio.toPrecision(4));
}
