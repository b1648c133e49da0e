import { STATE_COLOR } from '../charts/colors.ts';

const COLORS = { ok: '#15803d', warn: '#d97706', bad: '#dc2626', off: '#64748b' };

let shown = '';

/** The icon of the browser's tab, in the color of the state. */
export function showIcon(state: string): void {
  if (state === shown) return;
  shown = state;
  const color = COLORS[STATE_COLOR[state] ?? 'off'];
  const drawing =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="${color}"/>` +
    '<path d="M3 11V8h2v3zm4 0V5h2v6zm4 0V7h2v4z" fill="#fff"/></svg>';
  document
    .querySelector('link[rel=icon]')
    ?.setAttribute('href', `data:image/svg+xml,${encodeURIComponent(drawing)}`);
}
