import { existsSync, readFileSync } from 'node:fs';

/** The log of `disk-shim.c`, in order. */
export type DiskRecord =
  | { readonly kind: 'write'; readonly file: DiskFileName; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly file: DiskFileName; readonly length: number }
  | {
      /** Both entries of one sync, `begun` and either `synced` or `failed`, have the same number. */
      readonly kind: 'begun' | 'synced' | 'failed';
      readonly file: DiskFileName;
      readonly number: number;
    }
  | { readonly kind: 'acknowledged'; readonly lines: readonly string[] };

export type DiskFileName = 'database' | 'wal';

const FILES = ['', 'database', 'wal'] as const;
const HEAD_BYTES = 16;

export function readDiskLog(path: string): readonly DiskRecord[] {
  const log = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const records: DiskRecord[] = [];
  for (let at = 0; at < log.length;) {
    const kind = String.fromCharCode(log.readUInt8(at));
    const file = FILES[log.readUInt8(at + 1)] as DiskFileName;
    const number = Number(log.readBigUInt64LE(at + 8));
    const data = log.subarray(at + HEAD_BYTES, at + HEAD_BYTES + log.readUInt32LE(at + 4));
    at += HEAD_BYTES + data.length;
    records.push(recordOf(kind, file, number, data));
  }
  return records;
}

function recordOf(kind: string, file: DiskFileName, number: number, data: Buffer): DiskRecord {
  switch (kind) {
    case 'A':
      return { kind: 'acknowledged', lines: data.toString().trim().split('\n') };
    case 'W':
      return { kind: 'write', file, offset: number, data };
    case 'T':
      return { kind: 'truncate', file, length: number };
    case 'B':
      return { kind: 'begun', file, number };
    case 'S':
      return { kind: 'synced', file, number };
    case 'E':
      return { kind: 'failed', file, number };
    default:
      throw new Error(`The log holds a record of the kind ${JSON.stringify(kind)}.`);
  }
}
