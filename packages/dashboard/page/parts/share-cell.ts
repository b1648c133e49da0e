import { count, percent } from '../data/format.ts';
import { h, setText } from './dom.ts';

/** A number, its share of all, and a bar of that length. */
export function fillShare(cell: HTMLElement, number: number, share: number, isNew: boolean): void {
  if (isNew)
    cell.append(
      h('span'),
      ' ',
      h('span', { class: 'ratio' }),
      h('i', { class: 'bar', 'aria-hidden': 'true' }),
    );
  const [shown, ratio, bar] = cell.children;
  setText(shown as Element, count(number));
  setText(ratio as Element, percent(share));
  (bar as HTMLElement).style.setProperty('--share', String(share));
}
