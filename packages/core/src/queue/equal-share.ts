/** The queue as {@link holdsShare} needs it. */
interface Shares {
  /** Queued deliveries. */
  readonly size: number;
  /** Keys that have queued deliveries. */
  readonly keys: number;
  lineOf(key: string): { readonly size: number } | undefined;
}

/** Whether a key holds an equal share of the queue or more. */
export function holdsShare(key: string, queue: Shares): boolean {
  const line = queue.lineOf(key);
  return line !== undefined && line.size * queue.keys >= queue.size;
}
