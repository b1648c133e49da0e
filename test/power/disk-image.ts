import type { DiskFileName, DiskRecord } from './disk-log.ts';

/** The unit that a disk writes atomically. */
const SECTOR = 512;

type Write = Extract<DiskRecord, { kind: 'write' }>;
type Change = Write | Extract<DiskRecord, { kind: 'truncate' }>;

/** One file on the disk: its synced content, and later writes that may or may not have reached the disk. */
class FileOnDisk {
  #synced: Buffer = Buffer.alloc(0);
  #unsynced: Change[] = [];
  readonly #begun = new Map<number, number>();
  #before = 0;

  change(change: Change): void {
    this.#unsynced.push(change);
  }

  begin(number: number): void {
    this.#begun.set(number, this.#before + this.#unsynced.length);
  }

  sync(number: number): void {
    const count = Math.max(0, (this.#begun.get(number) ?? 0) - this.#before);
    for (const change of this.#unsynced.splice(0, count)) this.#synced = applied(this.#synced, change);
    this.#before += count;
  }

  /** The kernel drops writes that it could not sync; some may have reached the disk before. */
  fail(chance: () => number): void {
    const isAllLost = chance() < 0.7;
    for (const change of this.#unsynced)
      if (change.kind === 'truncate' || (!isAllLost && chance() < 0.3))
        this.#synced = applied(this.#synced, change);
    this.#before += this.#unsynced.length;
    this.#unsynced = [];
  }

  /** The file after a power failure: each write that was not synced is there, is missing, or is there in part. */
  afterPowerFailure(chance: () => number): Buffer {
    let found: Buffer = Buffer.from(this.#synced);
    for (const change of this.#unsynced) {
      const fate = chance() * 3;
      if (fate < 1) continue;
      if (fate < 2 || change.kind === 'truncate') found = applied(found, change);
      else for (const part of sectorsOf(change)) if (chance() < 0.5) found = applied(found, part);
    }
    return found;
  }
}

/** The disk with the file of an inbox, as far as its log was replayed. */
export class DiskImage {
  readonly #files: Record<DiskFileName, FileOnDisk> = { database: new FileOnDisk(), wal: new FileOnDisk() };
  readonly #chance: () => number;
  readonly acknowledged: Set<string> = new Set<string>();

  constructor(chance: () => number) {
    this.#chance = chance;
  }

  read(record: DiskRecord): void {
    if (record.kind === 'acknowledged') {
      for (const line of record.lines) this.acknowledged.add(line);
      return;
    }
    const file = this.#files[record.file];
    if (record.kind === 'write' || record.kind === 'truncate') file.change(record);
    else if (record.kind === 'begun') file.begin(record.number);
    else if (record.kind === 'synced') file.sync(record.number);
    else file.fail(this.#chance);
  }

  afterPowerFailure(): Record<DiskFileName, Buffer> {
    const { database, wal } = this.#files;
    return {
      database: database.afterPowerFailure(this.#chance),
      wal: wal.afterPowerFailure(this.#chance),
    };
  }
}

function applied(file: Buffer, change: Change): Buffer {
  if (change.kind === 'truncate')
    return change.length <= file.length ? file.subarray(0, change.length) : grown(file, change.length);
  const { offset, data } = change;
  const whole = file.length >= offset + data.length ? file : grown(file, offset + data.length);
  data.copy(whole, offset);
  return whole;
}

/** A buffer that doubles, because most writes make a file larger. */
function grown(file: Buffer, length: number): Buffer {
  if (file.byteOffset === 0 && file.buffer.byteLength >= length && file.buffer.byteLength > 8192) {
    const whole = Buffer.from(file.buffer as ArrayBuffer, 0, length);
    whole.fill(0, file.length);
    return whole;
  }
  const room = Buffer.from(new ArrayBuffer(Math.max(16_384, 2 * length)), 0, length);
  file.copy(room);
  return room;
}

function* sectorsOf({ file, offset, data }: Write): Generator<Change> {
  for (let at = 0; at < data.length;) {
    const length = Math.min(SECTOR - ((offset + at) % SECTOR), data.length - at);
    yield { kind: 'write', file, offset: offset + at, data: data.subarray(at, at + length) };
    at += length;
  }
}
