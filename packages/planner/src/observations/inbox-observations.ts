/** Observations of an inbox; arrays have one entry per delivery. */
export class InboxObservations {
  /** When the sender got the first acknowledgement; NaN without one. In ms of the run. */
  readonly acknowledgedMs: Float64Array;
  /** Attempts that the inbox recognized as duplicates by their id. */
  duplicates = 0;

  constructor(count: number) {
    this.acknowledgedMs = new Float64Array(count).fill(NaN);
  }

  acknowledged(i: number, nowMs: number): void {
    if (Number.isNaN(this.acknowledgedMs[i])) this.acknowledgedMs[i] = nowMs;
  }
}
