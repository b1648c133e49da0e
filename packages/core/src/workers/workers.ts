/**
 * How many deliveries may be handled concurrently, and how many are.
 *
 * A count, and not tasks of p-limit. A task for each delivery adds 1.0 to 1.6 µs to the 2.0 to 2.5 µs of a delivery that
 * starts immediately (Node 20, 24), and p-limit frees its place some microtasks after the release. On Cloudflare Workers
 * it never does if the request that created the task is over: with two workers, 4 of 20 requests were answered and then
 * none, also with tasks only for queued deliveries. With tasks created by their own request all 20 were, but each queued
 * delivery that `maxHandlingMs` ended after its request was over cost a worker for good.
 */
export class Workers {
  active = 0;
  size: number;

  constructor(size: number) {
    this.size = size;
  }

  get isFree(): boolean {
    return this.active < this.size;
  }
}
