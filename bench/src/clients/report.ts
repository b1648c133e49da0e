import { machineLines, type Machine } from '../machine.ts';
import * as setup from './setup.ts';

/** One burst. */
export interface Run {
  readonly client: setup.ClientName;
  readonly receiver: setup.ReceiverName;
  readonly delivered: number;
  /** By the receiver: more than delivered if a client did not see the answer. */
  readonly handled: number;
  /** For each delivery. */
  readonly attempts: number;
  /** From the first request to the last answer. */
  readonly lastS: number;
  /** See {@link earliestLastS}. */
  readonly earliestS: number;
  readonly retryAfterP50S: number;
  readonly retryAfterMostS: number;
}

/** The targets that a run misses. */
export function failuresOf({ client, receiver, delivered, handled, attempts, lastS }: Run): string[] {
  const { DELIVERIES, MAX_ATTEMPTS, MAX_TIMES_IDEAL, IDEAL_S } = setup;
  const checks: readonly (readonly [boolean, string])[] = [
    [delivered === DELIVERIES, `delivered ${String(delivered)} of ${String(DELIVERIES)}`],
    [handled === delivered, `handled ${String(handled)} for ${String(delivered)} delivered`],
    [attempts <= MAX_ATTEMPTS, `needed ${attempts.toFixed(2)} attempts`],
    [lastS <= MAX_TIMES_IDEAL * IDEAL_S, `took ${lastS.toFixed(1)} s`],
  ];
  return checks.filter(([isReached]) => !isReached).map(([, found]) => `${client} to ${receiver} ${found}.`);
}

export function clientsReport(machine: Machine, runs: readonly Run[]): string {
  const { DELIVERIES, HANDLING_MS, LIMITS, IDEAL_S, MAX_ATTEMPTS, MAX_TIMES_IDEAL } = setup;
  return [
    '# Clients that retry',
    '',
    'Written by `npm run bench:clients -- --write`.',
    '',
    ...machineLines(machine),
    '',
    `${String(DELIVERIES)} deliveries at one moment reach a receiver that has just been started: handlers of ${String(HANDLING_MS)} ms, \`concurrency: ${String(LIMITS.concurrency)}\`, \`capacity: ${String(LIMITS.capacity)}\`. So the last one cannot be delivered before ${String(IDEAL_S)} s. The targets: all delivered, at most ${MAX_ATTEMPTS.toFixed(1)} attempts for each, the last after at most ${String(MAX_TIMES_IDEAL)} × ${String(IDEAL_S)} s.`,
    '',
    '| Client | Receiver | Delivered | Attempts per delivery | Last delivered after | Possible | Retry-After, median | Retry-After, most |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...runs.map(
      ({ client, receiver, delivered, attempts, lastS, earliestS, retryAfterP50S, retryAfterMostS }) =>
        `| ${client} | ${receiver} | ${String(delivered)} | ${attempts.toFixed(2)} | ${lastS.toFixed(1)} s | ${earliestS.toFixed(1)} s | ${String(retryAfterP50S)} s | ${String(retryAfterMostS)} s |`,
    ),
    '',
  ].join('\n');
}
