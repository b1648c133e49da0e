import {
  ASSUMED_TIMEOUT_MS,
  type PlanRequest,
  parseScenario,
  readArriving,
  receiverOf,
  run,
  type RequestedSender,
  type Scenario,
  senderOf,
  type Traffic,
} from '@webhook-backpressure/planner/parts';

/** What is sent. Times are those of the senders. */
export interface Shot {
  readonly senders: PlanRequest['senders'];
  readonly burst: PlanRequest['burst'];
  readonly normalPerSecond: number | undefined;
  /** How long the ordinary traffic lasts, in seconds. */
  readonly normalS: number;
  /** The waits of the senders are divided by it. */
  readonly speed: number;
  /** The handlers of the receiver, for the prediction. */
  readonly service: PlanRequest['service'] | undefined;
  readonly concurrency: number;
  readonly seed: number;
}

const ANY_SERVICE = { meanMs: 1 };

/** @throws ScenarioError for an unknown or repeated sender. */
export function sendersOf({ senders }: Shot): readonly RequestedSender[] {
  return readArriving({ senders, burst: { events: 1, seconds: 1 }, service: ANY_SERVICE }).senders;
}

/**
 * The scenario on the real clock: arrivals are as close as the speed makes them, and its senders wait less. A request takes
 * as long as the receiver needs, and a timeout is as long as the sender says.
 */
export function scenarioOf(shot: Shot, mode: 'none' | 'hold' | 'inbox' = 'none'): Scenario {
  const { burst, normalPerSecond = 0, normalS, speed, service = ANY_SERVICE, concurrency, seed } = shot;
  // Until the middle of two deliveries, so that rounding makes none more and none less.
  const arrival = (events: number, seconds: number): object => ({
    fromS: 0,
    toS: (seconds * (1 - 0.5 / events)) / speed,
    perSecond: (events / seconds) * speed,
  });
  const normal = Math.max(1, Math.round(normalPerSecond * normalS));
  const parsed = parseScenario({
    seed,
    service: { distribution: 'exponential', ...service },
    ...receiverOf({ mode, options: {}, concurrency }),
    arrivals: [
      ...(normalPerSecond > 0 ? [arrival(normal, normal / normalPerSecond)] : []),
      ...(burst === undefined ? [] : [arrival(burst.events, burst.seconds)]),
    ],
    senders: sendersOf(shot).map((sender) => senderOf(sender, ASSUMED_TIMEOUT_MS)),
  });
  return { ...parsed, speed };
}

/** What the planner predicts for a receiver. */
export interface Prediction {
  /** Without the middleware, with it, or with an inbox; with their defaults. */
  readonly mode: 'none' | 'hold' | 'inbox';
  /** Acknowledged. */
  readonly delivered: number;
  /** Given up, or not sent because the endpoint was disabled. */
  readonly lost: number;
  /** Requests. */
  readonly attempts: number;
}

/** More requests than this in one simulation take minutes. */
const MAX_ATTEMPTS = 20_000_000;

/** Simulates the same deliveries on receivers with the handlers that the user has named. */
export async function predict(shot: Shot, traffic: Traffic): Promise<Prediction[]> {
  const predictions: Prediction[] = [];
  for (const mode of ['none', 'hold', 'inbox'] as const) {
    const seen = await run(scenarioOf(shot, mode), traffic, MAX_ATTEMPTS);
    const attempts = seen.attempts.reduce((sum, one) => sum + one, 0);
    predictions.push({ mode, delivered: traffic.count - seen.lost, lost: seen.lost, attempts });
  }
  return predictions;
}
