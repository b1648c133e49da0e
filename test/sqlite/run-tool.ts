import { execFile, type ExecFileException } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../tooling/packages.js';

const TOOL = join(root, 'packages/sqlite/dist/cli.js');

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the tool as a user does. */
export function tool(...args: readonly string[]): Promise<Ended> {
  return toolWith([], ...args);
}

/** The same with flags for Node itself. */
export function toolWith(flags: readonly string[], ...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...flags, TOOL, ...args], (error: ExecFileException | null, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}
