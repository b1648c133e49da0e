import { percentile, sum } from '../statistics.ts';
import type { ReceiverReport } from './receiver-child.ts';
import type { Burst } from './sender-child.ts';
import { END_S, SENDER_TIMEOUT_MS, type RunName } from './setup.ts';

/** One line of the story. */
export interface Row {
  readonly name: RunName;
  readonly deliveries: number;
  readonly delivered: number;
  /** Not delivered; of an inbox also those that it confirmed and did not process. */
  readonly lost: number;
  readonly attemptsPerDelivery: number;
  readonly maxAttempts: number;
  /** From the first attempt to the answer that it was delivered, in seconds; null when none was. */
  readonly p50S: number | null;
  readonly p99S: number | null;
  /** The last one delivered and processed, in seconds after the burst began; null when none was. */
  readonly clearS: number | null;
  /** Of the deliveries that the database processed, the share that a sender counted as delivered, each once. */
  readonly goodput: number;
  readonly handled: number;
  readonly refused: number;
  readonly timedOut: number;
  readonly serverErrors: number;
  readonly databaseErrors: number;
  readonly peakRssMiB: number;
  /** Delivered in each second since the burst began. */
  readonly perSecond: readonly number[];
}

export function verdict(
  name: RunName,
  { beganMs, outcomes }: Burst,
  receiver: ReceiverReport,
  databaseErrors: number,
): Row {
  const delivered = outcomes.filter((outcome) => outcome.deliveredMs !== null);
  const delays = delivered.map(({ deliveredMs, sentMs }) => ((deliveredMs ?? NaN) - sentMs) / 1000);
  const ends = delivered.map(({ deliveredMs }) => (deliveredMs ?? NaN) / 1000);
  // An inbox confirms deliveries before they are processed; the others, afterwards.
  const isInbox = name === 'webhook-inbox';
  const processed = isInbox ? Math.min(delivered.length, receiver.handled) : delivered.length;
  const processedS = isInbox ? (receiver.lastHandledMs - beganMs) / 1000 : 0;
  const answers = outcomes.flatMap((outcome) => outcome.answers);
  const attempts = outcomes.map((outcome) => outcome.attempts);
  const countOf = (matches: (status: number) => boolean): number => answers.filter(matches).length;
  return {
    name,
    deliveries: outcomes.length,
    delivered: delivered.length,
    lost: outcomes.length - processed,
    attemptsPerDelivery: to2(sum(attempts) / outcomes.length),
    maxAttempts: Math.max(...attempts),
    p50S: delivered.length === 0 ? null : to3(percentile(delays, 0.5)),
    p99S: delivered.length === 0 ? null : to3(percentile(delays, 0.99)),
    clearS: delivered.length === 0 ? null : to2(Math.max(processedS, ...ends)),
    goodput: to2(processed / Math.max(receiver.handled, processed, 1)),
    handled: receiver.handled,
    refused: countOf((status) => status === 429 || status === 503),
    timedOut: countOf((status) => status === 0),
    serverErrors: countOf((status) => status >= 500 && status !== 503) + receiver.failed,
    databaseErrors,
    peakRssMiB: Math.round(receiver.peakRssBytes / 2 ** 20),
    perSecond: Array.from(
      { length: END_S + SENDER_TIMEOUT_MS / 1000 },
      (_, second) => ends.filter((end) => Math.floor(end) === second).length,
    ),
  };
}

function to2(value: number): number {
  return Number(value.toFixed(2));
}

function to3(value: number): number {
  return Number(value.toFixed(3));
}
