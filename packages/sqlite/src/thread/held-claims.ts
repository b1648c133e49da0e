import type { ClaimRef } from '@webhook-backpressure/inbox';

/** The claims that have reached this process. A new thread takes them over from a thread that has ended. */
export class HeldClaims {
  readonly #claims = new Map<string, ClaimRef>();

  add(claims: readonly ClaimRef[]): void {
    for (const { key, id, attempt } of claims)
      this.#claims.set(nameOf({ key, id, attempt }), { key, id, attempt });
  }

  remove(claims: readonly ClaimRef[]): void {
    for (const claim of claims) this.#claims.delete(nameOf(claim));
  }

  clear(): void {
    this.#claims.clear();
  }

  all(): readonly ClaimRef[] {
    return [...this.#claims.values()];
  }
}

/** Unique, since the length of the key says where the id begins. */
function nameOf({ key, id, attempt }: ClaimRef): string {
  return `${String(attempt)}:${String(key.length)}:${key}${id}`;
}
