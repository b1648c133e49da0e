import { readFileSync, writeFileSync } from 'node:fs';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { openDatabase, type DriverDatabase } from '../../packages/sqlite/src/connection/drivers.ts';
import { Scratch } from './scratch.ts';

/** The size of the first page, after which the damage begins. */
const FIRST_PAGE = 4096;

/** Files that a store must refuse, each with another error. */
export class BrokenFiles {
  readonly #scratch = new Scratch();
  readonly #lock: DriverDatabase;
  readonly free: string = this.#scratch.file('free.db');
  readonly deleted: string = this.#scratch.file('deleted.db');
  readonly missing: string = this.#scratch.file('missing.db');
  readonly ofAnotherProgram: string = this.#scratch.file('another.db');
  readonly ofANewerRelease: string = this.#scratch.file('newer.db');
  readonly empty: string = this.#scratch.file('empty.db');
  readonly damaged: string = this.#scratch.file('damaged.db');
  readonly locked: string = this.#scratch.file('locked.db');

  constructor() {
    execute(this.ofAnotherProgram, 'CREATE TABLE users (name TEXT)');
    for (const path of [this.ofANewerRelease, this.damaged, this.locked]) makeInbox(path);
    writeFileSync(this.empty, '');
    // Otherwise garbage collection checkpoints the file during a test.
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
 * A connection with the same SQLite as the store: file locks belong to the whole process, so two copies of SQLite in it
 * would not exclude each other.
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

/** Overwrites all pages but the first, so that the file is still recognized as an inbox. */
export function damage(path: string): void {
  const bytes = readFileSync(path);
  bytes.fill(0xaa, FIRST_PAGE);
  writeFileSync(path, bytes);
}
