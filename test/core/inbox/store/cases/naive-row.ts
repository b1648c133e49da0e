/** A delivery of the model. */
export interface Row {
  readonly key: string;
  readonly id: string;
  readonly order: number;
  state: 'waiting' | 'claimed' | 'deadLetters' | 'completed';
  isKept: boolean;
  isRemembered: boolean;
  /** Whether its last attempt failed. */
  isRetry: boolean;
  attempts: number;
  strandings: number;
  /** When a waiting delivery is due, or since when it is completed or a dead letter. */
  atMs: number;
  /** The order of completed deliveries and of dead letters. */
  endOrder: number;
  owner: number;
  leaseEndsMs: number;
}

/** @returns names that can be compared. */
export function namesOf(rows: readonly Row[]): string[] {
  return rows.map(({ key, id }) => `${key}/${id}`).sort();
}
