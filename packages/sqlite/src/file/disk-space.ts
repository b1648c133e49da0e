import { statfsSync, statSync } from 'node:fs';
import { BackpressureError } from '@webhook-backpressure/core';
import type { Connection, Statement } from './connection.ts';
import { lockedByReader } from './failure.ts';

/**
 * How large the -wal file gets while deliveries are completed: it is moved into the file when it is half of that. On a
 * small disk less, since it is kept free.
 */
const WAL_SHARE = 1 / 16;
const LEAST_WAL_BYTES = 256 * 1024;
const MOST_WAL_BYTES = 8 * 1024 * 1024;
/** What a page takes in the -wal file beside itself. */
const FRAME_BYTES = 24;
/** What a delivery may need of the file beside its own room when it is completed or shelved. */
const BYTES_PER_DELIVERY = 2048;
/** Of an error on the shelf, where there is no room for more. */
const SCARCE_CHARACTERS = 100;
const LEAST_FILE_BYTES = 65_536;
/** What one takes that is stored, beside its body: pages of the indexes, each time it is written. */
const BYTES_PER_PUT = 32_768;
/** While there is plenty, it is not looked at each time; others may use the disk as well. */
const LOOK_EVERY_MS = 1000;

/**
 * Keeps so much of the disk free that what is stored can be completed or shelved, and that the file can be opened again.
 * Only what comes in is refused for it.
 */
export class DiskRoom {
  readonly #connection: Connection;
  readonly #file: string;
  readonly #maxWalBytes: number;
  readonly #pages: Statement;
  readonly #freePages: Statement;
  readonly #pageBytes: number;
  readonly #depth: Statement;
  readonly #walBytes: number;
  /** What may come in before it is looked at again. */
  #spare = 0;
  #lookAgainAt = -Infinity;
  #keepWalAtMs = -Infinity;
  #isWalTooLarge = false;

  constructor(connection: Connection, maxWalBytes: number) {
    this.#connection = connection;
    this.#file = connection.location;
    this.#maxWalBytes = maxWalBytes;
    this.#pages = connection.prepare('PRAGMA page_count');
    this.#freePages = connection.prepare('PRAGMA freelist_count');
    [this.#pageBytes] = connection.prepare('PRAGMA page_size').get([]) as [number];
    this.#depth = connection.prepare('SELECT depth FROM totals');
    const { size } = diskOf(this.#file);
    this.#walBytes = Math.min(MOST_WAL_BYTES, Math.max(LEAST_WAL_BYTES, size * WAL_SHARE));
    const frames = Math.floor(this.#walBytes / 2 / (this.#pageBytes + FRAME_BYTES));
    connection.execute(`PRAGMA wal_autocheckpoint = ${String(frames)}`);
  }

  /**
   * @param bytes - what the bodies of a batch have.
   * @throws when there would be too little room after it.
   */
  check(bytes: number, count: number): void {
    this.keepWal();
    const written = bytes + BYTES_PER_PUT * count;
    const nowMs = performance.now();
    if (nowMs >= this.#lookAgainAt || 2 * written > this.#spare) {
      this.#lookAgainAt = nowMs + LOOK_EVERY_MS;
      const { free, needed } = this.#look(written);
      // Half of it: other programs, and other processes on the file, take some as well.
      this.#spare = (free - needed) / 2;
      if (free < needed) throw this.#full(free, needed);
    }
    if (this.#isWalTooLarge) throw lockedByReader(this.#connection.path);
    this.#spare -= 2 * written;
  }

  /** As much of an error as there is room for, so that the shelf does not take what the rest needs. */
  fitting(error: string): string {
    const { free, needed } = this.#look(0);
    return free - needed > this.#walBytes ? error : error.slice(0, SCARCE_CHARACTERS);
  }

  /** @param written - what is about to be: first to the -wal file, and from there to the file. */
  #look(written: number): { readonly free: number; readonly needed: number } {
    const { free } = diskOf(this.#file);
    const [pages] = this.#pages.get([]) as [number];
    const [freePages] = this.#freePages.get([]) as [number];
    const [depth] = this.#depth.get([]) as [number];
    // What is in the -wal file only needs room in the file as soon as it is moved there.
    const unmoved = Math.max(0, pages * this.#pageBytes - sizeOf(this.#file));
    const wal = Math.max(0, this.#walBytes + written - sizeOf(`${this.#file}-wal`));
    const kept = LEAST_FILE_BYTES + depth * BYTES_PER_DELIVERY;
    const file = Math.max(0, kept + written - freePages * this.#pageBytes);
    return { free, needed: unmoved + wal + file };
  }

  /** Empties the -wal file when it is too large, or finds out that it cannot be emptied. Now and then. */
  keepWal(): void {
    const nowMs = performance.now();
    if (nowMs < this.#keepWalAtMs) return;
    this.#keepWalAtMs = nowMs + LOOK_EVERY_MS;
    const isTooLarge = sizeOf(`${this.#file}-wal`) > this.#maxWalBytes;
    this.#isWalTooLarge = isTooLarge && !this.#connection.tidy();
  }

  #full(free: number, needed: number): BackpressureError {
    return new BackpressureError(
      'ERR_WBP_SQLITE_WRITE',
      `${this.#connection.path} cannot grow: its disk has ${String(free)} bytes left, and ${String(Math.ceil(needed))} are needed so that what is stored can still be completed.`,
    );
  }
}

/** Where a runtime or a file system does not say, there is no end of it. */
function diskOf(path: string): { readonly size: number; readonly free: number } {
  try {
    const { blocks, bavail, bsize } = statfsSync(path);
    if (blocks > 0) return { size: blocks * bsize, free: bavail * bsize };
  } catch {
    // As below.
  }
  return { size: Infinity, free: Infinity };
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
