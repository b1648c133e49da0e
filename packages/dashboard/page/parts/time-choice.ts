import { segmented } from './segmented.ts';

/** The time that charts show at first, in milliseconds. */
export const FIRST_SPAN_MS = 900_000;

/** Chooses the time that all charts show. */
export function timeChoice(onChange: (spanMs: number) => void): HTMLElement {
  return segmented(
    'Time shown',
    [
      ['60000', '1 min'],
      ['300000', '5 min'],
      [String(FIRST_SPAN_MS), '15 min'],
    ],
    String(FIRST_SPAN_MS),
    (chosen) => {
      onChange(Number(chosen));
    },
  );
}
