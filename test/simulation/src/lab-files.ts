import { join } from 'node:path';
import type { LabReport } from './lab-figures.ts';
import { REPORTS } from './reports.ts';

/** The figures of the lab. */
export const LAB_FILE: string = join(REPORTS, 'senders.json');
/** The page that is rendered from them. */
export const LAB_PAGE: string = join(REPORTS, 'senders.md');

/** Formats the figures as JSON with one line per run, so that a diff shows the changed runs. */
export function formatLab(report: LabReport): string {
  const runs = Object.entries(report).map(
    ([name, result]) => `  ${JSON.stringify(name)}: ${JSON.stringify(result)}`,
  );
  return `{\n${runs.join(',\n')}\n}\n`;
}
