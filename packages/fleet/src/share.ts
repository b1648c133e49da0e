/**
 * The share of a member in use, and the one that it claims.
 *
 * A member takes less immediately. It takes more only after it has written a claim, and only as far as the shares and
 * claims of all others leave room in the answer to that beat. Beats are ordered, so of two members that grow
 * concurrently the later one sees the claim of the other: the shares in use never exceed the limit by growing.
 */
export class Share {
  /** Deliveries that the member may handle concurrently: at least 1. */
  held: number;
  /** At least `held`. */
  claim: number;

  constructor(initial: number) {
    this.held = this.claim = Math.max(1, initial);
  }

  /** Called before a beat, with the share by what is known now. */
  aim(target: number): void {
    this.claim = Math.max(this.held, target);
  }

  /** Called with the answer. `room`: what the others leave of the limit. */
  settle(target: number, room: number): void {
    const most = Math.min(target, this.claim, room);
    this.held = Math.max(1, target <= this.held ? target : Math.max(this.held, most));
  }
}
