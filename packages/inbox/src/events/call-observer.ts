/** Calls an observer. What it throws or rejects with is ignored, because it must not harm a delivery. */
export function callObserver(observer: () => unknown): void {
  try {
    const result = observer();
    if (result instanceof Promise) result.catch(() => undefined);
  } catch {
    // Ignored, as above.
  }
}
