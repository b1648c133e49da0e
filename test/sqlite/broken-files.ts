import { readFileSync, writeFileSync } from 'node:fs';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { openDatabase } from '../../packages/sqlite/src/drivers/choose.ts';
import type { DriverDatabase } from '../../packages/sqlite/src/drivers/driver.ts';
import { Scratch } from './scratch.ts';

/** The page that holds the beginning of the file, and where its damage begins. */
const FIRST_PAGE = 4096;

/** Files that a store must refuse, each in its own way. */
export class BrokenFiles {
  readonly #scratch = new Scratch();
  readonly #lock: DriverDatabase;
  readonly free: string = this.#scratch.file('free.db');
  readonly deleted: string = this.#scratch.file('deleted.db');
  readonly missing: string = this.#scratch.file('missing.db');
  readonly ofAnotherProgram: string = this.#scratch.file('another.db');
  readonly ofANewerRelease: string = this.#scratch.file('newer.db');
  readonly ofAnOlderRelease: string = this.#scratch.file('older.db');
  readonly empty: string = this.#scratch.file('empty.db');
  readonly damaged: string = this.#scratch.file('damaged.db');
  readonly locked: string = this.#scratch.file('locked.db');

  constructor() {
    execute(this.ofAnotherProgram, 'CREATE TABLE users (name TEXT)');
    for (const path of [this.ofANewerRelease, this.ofAnOlderRelease, this.damaged, this.locked])
      makeInbox(path);
    toFirstVersion(this.ofAnOlderRelease);
    writeFileSync(this.empty, '');
    // Else the garbage collector moves it into the file, in the middle of a test.
    execute(this.ofANewerRelease, 'PRAGMA user_version = 1000; PRAGMA wal_checkpoint(TRUNCATE)');
    damage(this.damaged);
    this.#lock = anotherProgram(this.locked);
    this.#lock.exec('BEGIN EXCLUSIVE');
  }

  dispose(): void {
    this.#lock.close();
    this.#scratch.dispose();
  }
}

/**
 * Another connection, by the SQLite that the store uses: the locks of a process belong to all of it, so two copies of
 * SQLite in one do not keep each other out.
 */
export function anotherProgram(path: string): DriverDatabase {
  return openDatabase(path, 0);
}

export function makeInbox(path: string): void {
  const store = sqliteStore({ path });
  void store.open(0);
  void store.close(0);
}

export function execute(path: string, sql: string): void {
  const database = anotherProgram(path);
  database.exec(sql);
  database.close();
}

/** As the first release left it. */
export function toFirstVersion(path: string): void {
  // The last step first.
  const undo = [
    'DROP TABLE buckets; DROP TABLE remembered; DROP TABLE kept',
    'ALTER TABLE queue DROP COLUMN sum; ALTER TABLE shelf DROP COLUMN sum',
    'ALTER TABLE totals DROP COLUMN kept; ALTER TABLE totals DROP COLUMN kept_bytes',
    'ALTER TABLE totals DROP COLUMN room_depth; ALTER TABLE totals DROP COLUMN room_bytes',
    'DROP TABLE paused; DROP TABLE heads; DROP INDEX queue_behind; ALTER TABLE totals DROP COLUMN is_ordered',
    'DROP INDEX shelf_key; ALTER TABLE shelf DROP COLUMN key',
  ];
  execute(path, `${undo.join(';')}; PRAGMA user_version = 1; PRAGMA wal_checkpoint(TRUNCATE)`);
}

/** Leaves the first page, so that the file is still taken for what it was. */
export function damage(path: string): void {
  const bytes = readFileSync(path);
  bytes.fill(0xaa, FIRST_PAGE);
  writeFileSync(path, bytes);
}
