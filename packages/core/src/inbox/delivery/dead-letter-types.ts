import type { Signal } from '../../base/abort.ts';
import type { InboxDelivery } from './inbox-delivery.ts';

/** A delivery on the shelf: it will not be tried again by itself. */
export interface DeadLetter extends InboxDelivery {
  readonly attempts: number;
  /** `dead`: its attempts are used up. `overflow`: it came while the inbox was above the high-water mark. */
  readonly reason: 'dead' | 'overflow';
  /** What the last attempt failed with, up to 4,096 characters of it; empty for an overflow. */
  readonly error: string;
  readonly shelvedAt: Date;
}

/** What a list tells of it: all but the body, which {@link DeadLetters.get} has. */
export interface ListedDeadLetter extends Omit<DeadLetter, 'rawBody' | 'text' | 'json'> {
  /** Of an encrypted delivery: of all that is encrypted. */
  readonly bodyBytes: number;
  /**
   * The id of the key that it is encrypted with, or undefined. Then `method`, `url`, `path`, `params`, `context` and
   * `headers` are empty here, and {@link DeadLetters.get} has them.
   */
  readonly encryptedBy: string | undefined;
}

/** Narrows a call to one key. Ids are unique within a key only. Default: any key. */
export interface DeadLetterScope {
  key?: string | undefined;
}

/** How far a call has come that puts deliveries back. */
export interface RedriveProgress {
  /** Put back by now. */
  readonly redriven: number;
  /** Of those that were there when it was called. */
  readonly remaining: number;
  /** Whether the inbox has no room for more now; it goes on by itself. */
  readonly isWaiting: boolean;
}

/** How deliveries are put back. */
export interface RedriveOptions extends DeadLetterScope {
  /** Stops after the part that is under way. What is not put back by then stays where it is. */
  signal?: Signal | undefined;
  /** Called after each part, and when there is no room. What it throws is swallowed. */
  onProgress?: ((progress: RedriveProgress) => unknown) | undefined;
}

/** The shelf. What the store throws, its calls reject with. */
export interface DeadLetters {
  /** The oldest first, without their bodies. `limit`: from 1, default 100. `offset`: from 0, default 0. */
  list(
    options?: DeadLetterScope & { limit?: number | undefined; offset?: number | undefined },
  ): Promise<readonly ListedDeadLetter[]>;
  /**
   * The one of this id, whole; of several keys, the one that was shelved first. Rejects with `ERR_WBP_DECRYPT` when it
   * is encrypted and cannot be decrypted.
   */
  get(id: string, options?: DeadLetterScope): Promise<DeadLetter | undefined>;
  /**
   * Puts those of this id, or with `all` all that are there now, back among the stored, with all attempts before it.
   * `all` goes on while the inbox is below its low-water mark, in deliveries and in bytes, and pauses above it; a single
   * id pauses only at the high-water mark.
   *
   * @returns how many, when that is done, or the signal was aborted, or the inbox closes.
   */
  redrive(id: string, options?: RedriveOptions): Promise<number>;
  /** Throws those of this id, or with `all` all that are there now, away; their ids are forgotten. How many? */
  purge(id: string, options?: DeadLetterScope): Promise<number>;
}
