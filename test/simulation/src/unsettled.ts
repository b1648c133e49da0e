/** A run did not come to its end. */
export class Unsettled extends Error {
  readonly open: number;

  /** @param open - deliveries that were neither handled nor given up. */
  constructor(open: number) {
    super(`${String(open)} deliveries are open.`);
    this.open = open;
  }
}
