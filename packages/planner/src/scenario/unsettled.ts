/** A run did not settle. */
export class Unsettled extends Error {
  readonly open: number;

  /** @param open - the number of deliveries neither handled nor given up. */
  constructor(open: number) {
    super(`${String(open)} deliveries are open.`);
    this.open = open;
  }
}
