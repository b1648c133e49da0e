import type { Candidate } from '../search/candidate.ts';

/** Faster answers need no report. */
const SILENT_MS = 1000;

/** Reports each simulation after the first second. */
export function progressTo(report: (text: string) => void): (candidate: Candidate, run: number) => void {
  const startedMs = performance.now();
  return ({ way, options, concurrency }, run) => {
    if (performance.now() - startedMs < SILENT_MS) return;
    const changed = Object.entries({ concurrency, ...options }).map(
      ([name, value]) => `${name} ${typeof value === 'number' ? String(value) : JSON.stringify(value)}`,
    );
    report(`Simulating configuration ${String(run)}: ${way}, ${changed.join(', ')}`);
  };
}
