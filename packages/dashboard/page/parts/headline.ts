import { STATE_COLOR } from '../charts/colors.ts';
import { StateBand } from '../charts/state-band.ts';
import { factsOf, type AnySource } from '../data/wire.ts';
import { h, setAttribute, setText } from './dom.ts';
import type { Section } from './section.ts';

/** A figure that matters. */
export interface Tile {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly look?: 'warn' | 'bad' | undefined;
}

/** The state as a word, the figures that matter most, and the state over time. */
export function headline<S extends AnySource>(
  spanMs: () => number,
  sentenceOf: (source: S) => string,
  tilesOf: (source: S) => readonly Tile[],
): Section<S> {
  const word = h('strong', { class: 'state-word' });
  const sentence = h('span', { class: 'state-sentence' });
  const state = h(
    'div',
    { class: 'state' },
    h('i', { class: 'state-dot' }),
    h('div', {}, word, h('span', { class: 'note' }, ' now'), sentence),
  );
  const list = h('dl', { class: 'tiles' });
  const tiles: { term: HTMLElement; value: HTMLElement; note: HTMLElement; box: HTMLElement }[] = [];
  const band = new StateBand();

  const show = (shown: readonly Tile[]): void => {
    for (const [index, { label, value, note, look }] of shown.entries()) {
      let tile = tiles[index];
      if (tile === undefined) {
        tile = {
          term: h('dt'),
          value: h('dd', { class: 'tile-value' }),
          note: h('dd', { class: 'note' }),
          box: h('div'),
        };
        tile.box.append(tile.term, tile.value, tile.note);
        tiles.push(tile);
        list.append(tile.box);
      }
      setText(tile.term, label);
      setText(tile.value, value);
      setText(tile.note, note);
      setAttribute(tile.box, 'class', `tile ${look ?? ''}`);
    }
  };

  return {
    element: h(
      'section',
      { class: 'card headline', 'aria-label': 'State' },
      h('div', { class: 'headline-top' }, state, list),
      band.element,
    ),
    update(source, series): void {
      const { state: current } = factsOf(source);
      setText(word, `${current.slice(0, 1).toUpperCase()}${current.slice(1)}`);
      setText(sentence, sentenceOf(source));
      setAttribute(state, 'class', `state is-${STATE_COLOR[current] ?? 'off'}`);
      show(tilesOf(source));
      band.update(series, spanMs());
    },
  };
}
