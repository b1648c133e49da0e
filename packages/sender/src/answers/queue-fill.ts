const POLICY = /^"queue";q=(?<size>[1-9]\d{0,8})$/;
const LEFT = /^"queue";r=(?<left>\d{1,9});/;

/**
 * How full the queue of a receiver with Webhook Backpressure is, from `RateLimit-Policy: "queue";q=800` and
 * `RateLimit: "queue";r=600;t=2`. Only a limit of this name is a queue: the remainder of a quota says how much was used,
 * not how much waits.
 *
 * @returns from 0 to 1; undefined without a queue.
 */
export function queueFill(header: (name: string) => string | undefined): number | undefined {
  const size = POLICY.exec(header('ratelimit-policy') ?? '')?.groups?.['size'];
  const left = LEFT.exec(header('ratelimit') ?? '')?.groups?.['left'];
  if (size === undefined || left === undefined) return undefined;
  return Math.max(0, 1 - Number(left) / Number(size));
}
