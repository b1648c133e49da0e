import { optionsText } from '../search/code.ts';
import type { Candidate } from '../search/candidate.ts';

/** Faster answers need no report. */
const SILENT_MS = 1000;

/** Reports each simulation after the first second. */
export function progressTo(report: (text: string) => void): (candidate: Candidate, run: number) => void {
  const startedMs = performance.now();
  return ({ way, options, concurrency }, run) => {
    if (performance.now() - startedMs < SILENT_MS) return;
    report(`Simulating configuration ${String(run)}: ${way}, ${optionsText({ concurrency, ...options })}`);
  };
}
