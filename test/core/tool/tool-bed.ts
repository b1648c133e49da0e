import { expect } from 'vitest';
import type { StoreBed } from '../inbox/store-bed.ts';

/** How a run of the tool ended. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The stores of a test, and the tool that works on them. */
export interface ToolBed extends StoreBed {
  /** Where the tool says that deliveries are. */
  readonly noun: string;
  /** Runs the tool on the store of the test, in this process. */
  tool(...args: readonly string[]): Promise<Ended>;
  /** Runs it as a user does, in a process. */
  program(...args: readonly string[]): Promise<Ended>;
  /** All that is stored, to compare it. */
  contents(): Promise<string>;
}

/** The output of a command that must succeed. */
export async function jsonOf(bed: ToolBed, ...args: readonly string[]): Promise<unknown> {
  const { code, out, err } = await bed.tool(...args, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}
