import { bytes, count, duration, percent, percentile, plural, rate } from '../data/format.ts';
import { isReceiverAlone, snapshotOf, type Source } from '../data/wire.ts';
import { headline, type Tile } from '../parts/headline.ts';
import type { Section } from '../parts/section.ts';

const SENTENCES: Readonly<Record<string, string>> = {
  accepting: 'New deliveries are admitted.',
  shedding: 'New deliveries are refused until the queue is back at the low-water mark.',
  stalled: 'Deliveries are unfinished, and none has completed for a while.',
  closing: 'Shutting down: new deliveries are refused.',
  closed: 'Shut down.',
};

/** The headline of an intake or inbox. */
export function headlineSection(spanMs: () => number): Section {
  return headline<Source>(spanMs, sentenceOf, (source) =>
    source.kind === 'intake' ? intakeTiles(source) : inboxTiles(source),
  );
}

function sentenceOf(source: Source): string {
  const { state } = snapshotOf(source);
  const isPaused = source.kind === 'inbox' && source.view.snapshot.isPaused;
  return isPaused ? 'Processing is paused. Deliveries are still stored.' : (SENTENCES[state] ?? '');
}

function shared(source: Source): { depth: Tile; workers: Tile; drain: Tile; refused: Tile; booked: Tile } {
  const { depth, effectiveCapacity, active, concurrency, drainRate, booked, highWater, windows } =
    snapshotOf(source);
  const { arrivals, refused } = source.view.rates;
  const { all, seconds } = windows.fiveMinutes;
  const isOver = drainRate !== null && arrivals > drainRate && depth > 0;
  return {
    depth: {
      label: source.kind === 'intake' ? 'Queued' : 'Backlog',
      value: count(depth),
      note: `${percent(effectiveCapacity === 0 ? 0 : depth / effectiveCapacity)} of ${count(effectiveCapacity)}`,
      look: depth >= highWater ? 'warn' : undefined,
    },
    workers: isReceiverAlone(source)
      ? { label: 'Workers', value: '0', note: 'they run elsewhere' }
      : {
          label: 'Workers busy',
          value: `${count(active)} of ${count(concurrency)}`,
          note: active >= concurrency ? 'all' : plural(concurrency - active, 'is free', 'are free'),
        },
    drain: {
      label: 'Drain rate',
      value: rate(drainRate),
      note: `${rate(arrivals)} arrive`,
      look: isOver ? 'warn' : undefined,
    },
    refused: {
      label: 'Refused now',
      value: rate(refused),
      note: `${percent(all.refusedRatio)} in ${duration(seconds * 1000)}`,
      look: refused > 0 ? 'warn' : undefined,
    },
    booked: {
      label: 'Retries expected',
      value: count(booked),
      note: 'by Retry-After',
    },
  };
}

function intakeTiles(source: Extract<Source, { kind: 'intake' }>): Tile[] {
  const { depth, workers, drain, refused, booked } = shared(source);
  const { oldestWaitMs } = source.view.snapshot;
  const { waitMs } = source.view.snapshot.windows.oneMinute.all;
  const oldest = {
    label: 'Oldest wait',
    value: duration(oldestWaitMs),
    note: `p99 ${percentile(waitMs.p99)} in 1 min`,
  };
  return [depth, workers, drain, oldest, refused, booked];
}

function inboxTiles(source: Extract<Source, { kind: 'inbox' }>): Tile[] {
  const { depth, workers, drain, refused, booked } = shared(source);
  const {
    oldestAgeMs,
    deadLetters,
    bytes: stored,
    maxBytes,
    deadLetterBytes,
    outageMs,
    failingKeys,
  } = source.view.snapshot;
  const attempts: Tile =
    outageMs === null
      ? {
          label: 'Failing keys',
          value: count(failingKeys),
          note: '',
          look: failingKeys > 0 ? 'warn' : undefined,
        }
      : { label: 'Outage', value: duration(outageMs), note: 'handlers fail', look: 'bad' };
  return [
    depth,
    { label: 'Oldest', value: duration(oldestAgeMs), note: 'since received' },
    workers,
    drain,
    refused,
    { label: 'Stored', value: bytes(stored), note: `of ${bytes(maxBytes)}` },
    {
      label: 'Dead letters',
      value: count(deadLetters),
      note: bytes(deadLetterBytes),
      look: deadLetters > 0 ? 'warn' : undefined,
    },
    booked.value === '0' ? attempts : booked,
  ];
}
