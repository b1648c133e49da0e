/** A run was ended because it passed its time limit. */
export class RunTookTooLong extends Error {
  constructor(limitMs: number) {
    super(`A run took longer than ${String(limitMs / 1000)} s.`);
  }
}
