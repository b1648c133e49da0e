import { inBackground } from '@webhook-backpressure/base';
import {
  areOtherBodies,
  bodySum,
  storedBytes,
  encodeFacts,
  encodeText,
} from '@webhook-backpressure/inbox/store';
import type { Put, PutResult, StoreLimits } from '@webhook-backpressure/inbox';
import { idHash } from '../records/records.ts';
import type { Server } from '../server/server.ts';

interface Answer {
  readonly results: readonly ('queued' | 'shelved' | 'full' | 'duplicate')[];
  readonly known_sums: readonly (number | null)[];
  readonly server_ms: number;
  readonly first_slot: number;
  /** A bigint, as `pg` returns it. */
  readonly visited: string;
}

interface Entry extends Put {
  readonly hash: string;
  /** The sum of its body; null for a generated id, which is never sent again. */
  readonly sum: number | null;
}

/** A put that visits more index entries of the totals passes thousands of their earlier versions. */
const MANY = 150;

/** Stores new deliveries, a batch in one round trip and one commit. */
export class Incoming {
  readonly #server: Server;
  #isReplacing = false;

  constructor(server: Server) {
    this.#server = server;
  }

  async put(batch: readonly Put[], limits: StoreLimits, nowMs: number): Promise<readonly PutResult[]> {
    if (batch.length === 0) return [];
    const entries = batch.map((put): Entry => {
      const { delivery } = put;
      return { ...put, hash: idHash(delivery), sum: delivery.isIdGenerated ? null : bodySum(delivery) };
    });
    // A repetition within the batch follows the result of the first.
    const firsts = new Map<string, number>();
    const unique = entries.filter(({ hash }) => {
      if (firsts.has(hash)) return false;
      firsts.set(hash, firsts.size);
      return true;
    });
    const { results, known_sums: knownSums } = await this.#store(unique, limits, nowMs);
    return entries.map((entry): PutResult => {
      const at = firsts.get(entry.hash) as number;
      const result = results[at];
      if (result === 'full') return 'full';
      if (result !== 'duplicate' && entry === unique[at]) return 'stored';
      const known = knownSums[at] ?? null;
      const isOther = known !== null && entry.sum !== null && areOtherBodies(known, entry.sum);
      return isOther ? 'conflict' : 'duplicate';
    });
  }

  async #store(entries: readonly Entry[], limits: StoreLimits, nowMs: number): Promise<Answer> {
    const { skew } = this.#server;
    const deliveries = entries.map(({ delivery }) => delivery);
    const lengths = deliveries.map(({ rawBody }) => rawBody.byteLength);
    // PostgreSQL counts from 1.
    let next = 1;
    const starts = lengths.map((length) => {
      next += length;
      return next - length;
    });
    const sentAtMs = skew.now();
    const answer = await this.#server.call<Answer>('put_v1', [
      entries.map(({ hash }) => hash),
      deliveries.map(({ key }) => encodeText(key)),
      deliveries.map(({ id }) => encodeText(id)),
      deliveries.map(({ isIdGenerated }) => isIdGenerated),
      deliveries.map(({ sender }) => (sender === undefined ? null : encodeText(sender))),
      deliveries.map(encodeFacts),
      deliveries.map(({ receivedAtMs }) => receivedAtMs),
      deliveries.map(storedBytes),
      entries.map(({ sum }) => sum),
      starts,
      lengths,
      // One value, which is sent as it is: an array of bytes would be sent as text of twice the length.
      Buffer.concat(deliveries.map(({ rawBody }) => rawBody)),
      entries.map(({ isOverflow }) => isOverflow),
      skew.toServer(nowMs),
      limits.capacity,
      limits.maxBytes,
      limits.maxDeadLetters,
      limits.maxDeadLetterBytes,
    ]);
    skew.note(answer.server_ms, sentAtMs);
    if (Number(answer.visited) > MANY) inBackground(this.#replaceTotals(answer.first_slot));
    return answer;
  }

  /** In the background: puts work without it. */
  async #replaceTotals(first: number): Promise<void> {
    if (this.#isReplacing) return;
    this.#isReplacing = true;
    await this.#server.rows('replace_totals_v1', [first]).catch(() => undefined);
    this.#isReplacing = false;
  }
}
