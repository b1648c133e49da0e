import { execFile, type ExecFileException } from 'node:child_process';
import type { Ended } from './tool-bed.ts';

/** Runs a program of Node until it ends. */
export function runProgram(
  path: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [path, ...args], { env }, (error: ExecFileException | null, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}
