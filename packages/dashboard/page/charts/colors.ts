/** The colors of lines, which are custom properties of the style sheet, for light and dark. */
export type ColorName = 'blue' | 'teal' | 'violet' | 'red' | 'amber' | 'grey' | 'ink';

export type StateColorName = 'ok' | 'warn' | 'bad' | 'off';

/** The value of a custom property: a canvas does not know them. */
export function colorOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export const STATE_COLOR: Readonly<Record<string, StateColorName>> = {
  accepting: 'ok',
  shedding: 'warn',
  stalled: 'bad',
  opening: 'off',
  full: 'warn',
  closing: 'off',
  closed: 'off',
};

/** Calls the listener when the color scheme changes, so that canvases are drawn again. */
export function onColorScheme(listener: () => void): () => void {
  const query = matchMedia('(prefers-color-scheme: dark)');
  query.addEventListener('change', listener);
  return () => {
    query.removeEventListener('change', listener);
  };
}
