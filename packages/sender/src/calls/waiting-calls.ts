/** A call that waits for its start. */
export interface WaitingCall {
  /** Calls are numbered as they were made. */
  readonly order: number;
  /** The latest time of its start, on the monotonic clock. */
  readonly untilMs: number;
  /** Whether its wait was compared with its time. */
  isJudged: boolean;
  readonly begin: () => void;
  readonly fail: (reason: unknown) => void;
  before: WaitingCall | undefined;
  after: WaitingCall | undefined;
  isWaiting: boolean;
}

/** The waiting calls of a bucket, in the order in which they were made. */
export class WaitingCalls {
  size = 0;
  first: WaitingCall | undefined;
  last: WaitingCall | undefined;

  /** A call that is repeated is older than all that have not been started, so its place is near the front. */
  add(call: WaitingCall): void {
    let before = this.last;
    if (before !== undefined && call.order < before.order) {
      let next = this.first;
      while (next !== undefined && next.order < call.order) next = next.after;
      before = next?.before;
    }
    const after = before === undefined ? this.first : before.after;
    call.before = before;
    call.after = after;
    if (before === undefined) this.first = call;
    else before.after = call;
    if (after === undefined) this.last = call;
    else after.before = call;
    call.isWaiting = true;
    this.size += 1;
  }

  /** In constant time. */
  remove(call: WaitingCall): void {
    if (!call.isWaiting) return;
    const { before, after } = call;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.last = before;
    else after.before = before;
    call.before = call.after = undefined;
    call.isWaiting = false;
    this.size -= 1;
  }
}
