import { statfsSync, statSync } from 'node:fs';
import { BackpressureError } from '@webhook-backpressure/base';
import type { Connection } from '../connection/connection.ts';
import { lockedByReader } from '../connection/sqlite-errors.ts';

/**
 * The space kept free for the -wal file while deliveries are completed, as a share of the disk. SQLite empties the file
 * at half of that.
 */
const WAL_SHARE = 1 / 16;
const MIN_WAL_BYTES = 256 * 1024;
const MAX_WAL_BYTES = 8 * 1024 * 1024;
/** The header of a page in the -wal file. */
const FRAME_BYTES = 24;
/** The space that a delivery may need in addition when it is completed or dead-lettered. */
const BYTES_PER_DELIVERY = 2048;
/** The length of an error in the dead-letter queue when space is scarce. */
const SCARCE_CHARACTERS = 100;
const MIN_FILE_BYTES = 65_536;
/** Index pages written for each stored delivery. */
const BYTES_PER_PUT = 32_768;
/** While space is plentiful, it is not checked each time. Other programs may use the disk as well. */
const CHECK_EVERY_MS = 1000;

/** Stays free in the file for the next deliveries. Shrinking and growing in turn would cost writes. */
const KEPT_BYTES = 4_194_304;
/** A step of this size takes a few milliseconds, which a new delivery may have to wait. */
const PAGES_PER_STEP = 128;
/** The value of `PRAGMA auto_vacuum`. Files of an application may have another one: they reuse free pages, but cannot shrink. */
const INCREMENTAL = 2;

/**
 * Keeps enough of the disk free to complete or dead-letter all stored deliveries, and to open the file again. Only new
 * deliveries are refused for it.
 */
export class DiskSpace {
  readonly #connection: Connection;
  readonly #file: string;
  readonly #maxWalBytes: number;
  readonly #pageBytes: number;
  readonly #walBytes: number;
  /** How many bytes may be written before the next check. */
  #spare = 0;
  #checkAgainAtMs = -Infinity;
  #checkWalAtMs = -Infinity;
  #isWalTooLarge = false;

  /** @param isOwn - whether the connection belongs to the store, which decides when the -wal file is emptied. */
  constructor(connection: Connection, maxWalBytes: number, isOwn = true) {
    this.#connection = connection;
    this.#file = connection.location;
    this.#maxWalBytes = maxWalBytes;
    [this.#pageBytes] = connection.get('PRAGMA page_size') as [number];
    const { size } = diskOf(this.#file);
    this.#walBytes = Math.min(MAX_WAL_BYTES, Math.max(MIN_WAL_BYTES, size * WAL_SHARE));
    if (!isOwn) return;
    const frames = Math.floor(this.#walBytes / 2 / (this.#pageBytes + FRAME_BYTES));
    connection.execute(`PRAGMA wal_autocheckpoint = ${String(frames)}`);
  }

  /**
   * @param bytes - the size of the bodies of a batch.
   * @throws when storing the batch would leave too little space.
   */
  check(bytes: number, count: number): void {
    this.limitWal();
    const written = bytes + BYTES_PER_PUT * count;
    const nowMs = performance.now();
    if (nowMs >= this.#checkAgainAtMs || 2 * written > this.#spare) {
      this.#checkAgainAtMs = nowMs + CHECK_EVERY_MS;
      const { free, needed } = this.#measure(written);
      // Half, since other programs and other processes on the file also use the disk.
      this.#spare = (free - needed) / 2;
      if (free < needed)
        throw new BackpressureError(
          'ERR_WBP_SQLITE_WRITE',
          `${this.#connection.path} cannot grow: its disk has ${String(free)} bytes left, and ${String(Math.ceil(needed))} are needed to complete the stored deliveries.`,
        );
    }
    if (this.#isWalTooLarge) throw lockedByReader(this.#connection.path);
    this.#spare -= 2 * written;
  }

  /** Shortens an error when space is scarce, so that dead letters leave enough for the other deliveries. */
  cutToFit(error: string): string {
    const { free, needed } = this.#measure(0);
    return free - needed > this.#walBytes ? error : error.slice(0, SCARCE_CHARACTERS);
  }

  /** @param written - bytes about to be written, first to the -wal file and from there to the database. */
  #measure(written: number): { readonly free: number; readonly needed: number } {
    const { free } = diskOf(this.#file);
    const [pages] = this.#connection.get('PRAGMA page_count') as [number];
    const [freePages] = this.#connection.get('PRAGMA freelist_count') as [number];
    const [depth] = this.#connection.get('SELECT depth FROM totals') as [number];
    // Pages that are only in the -wal file need space in the database when they are moved there.
    const unmoved = Math.max(0, pages * this.#pageBytes - sizeOf(this.#file));
    const wal = Math.max(0, this.#walBytes + written - sizeOf(`${this.#file}-wal`));
    const kept = MIN_FILE_BYTES + depth * BYTES_PER_DELIVERY;
    const file = Math.max(0, kept + written - freePages * this.#pageBytes);
    return { free, needed: unmoved + wal + file };
  }

  /** At most once a second: empties a -wal file that is too large, or notes that a reader prevents it. */
  limitWal(): void {
    const nowMs = performance.now();
    if (nowMs < this.#checkWalAtMs) return;
    this.#checkWalAtMs = nowMs + CHECK_EVERY_MS;
    const isTooLarge = sizeOf(`${this.#file}-wal`) > this.#maxWalBytes;
    this.#isWalTooLarge = isTooLarge && !this.#connection.truncateWal();
  }
}

/** Infinite if the runtime or the file system does not report it. */
function diskOf(path: string): { readonly size: number; readonly free: number } {
  try {
    const { blocks, bavail, bsize } = statfsSync(path);
    if (blocks > 0) return { size: blocks * bsize, free: bavail * bsize };
  } catch {
    // Not supported.
  }
  return { size: Infinity, free: Infinity };
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** Returns free pages of the file to the disk, in a small step. @returns whether another one is worthwhile. */
export function shrink(connection: Connection): boolean {
  const [mode] = connection.get('PRAGMA auto_vacuum') as [number];
  if (mode !== INCREMENTAL) return false;
  const [pageBytes] = connection.get('PRAGMA page_size') as [number];
  const [free] = connection.get('PRAGMA freelist_count') as [number];
  const spare = free - Math.ceil(KEPT_BYTES / pageBytes);
  if (spare <= 0) return false;
  connection.transaction(() => {
    connection.execute(`PRAGMA incremental_vacuum(${String(Math.min(spare, PAGES_PER_STEP))})`);
  });
  return spare > PAGES_PER_STEP;
}

/** Only for an empty file: in any other SQLite would have to move all pages. */
export function makeShrinkable(connection: Connection): void {
  const [pages] = connection.get('PRAGMA page_count') as [number];
  if (pages === 0) connection.execute('PRAGMA auto_vacuum = INCREMENTAL');
}
