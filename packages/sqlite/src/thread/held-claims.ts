import type { ClaimRef } from '@webhook-backpressure/core';

/** The claims that this process has, as far as it knows: a new thread takes them over from one that has ended. */
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

/** Both strings are anything, so the length of one says where the other begins. */
function nameOf({ key, id, attempt }: ClaimRef): string {
  return `${String(attempt)}:${String(key.length)}:${key}${id}`;
}
