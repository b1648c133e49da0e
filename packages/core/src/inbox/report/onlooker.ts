/** Calls somebody who only looks on, as a listener does: its failure is its own, and must not harm a delivery. */
export function tell(onlooker: () => unknown): void {
  try {
    const result = onlooker();
    if (result instanceof Promise) result.catch(() => undefined);
  } catch {
    // See above.
  }
}
