import { clockMinute, duration } from '../data/format.ts';
import type { Series } from '../data/series.ts';
import { spansOf, timeByState } from '../data/summary.ts';
import { h, setAttribute, setText } from '../parts/dom.ts';
import { colorOf, STATE_COLOR } from './colors.ts';

const HEIGHT = 26;

/** The share of the band's height that a state takes: it can be recognized without the color. */
const SHARE: Readonly<Record<string, number>> = {
  accepting: 0.4,
  shedding: 0.75,
  stalled: 1,
  opening: 0.25,
  full: 0.75,
  closing: 0.25,
  closed: 0.25,
};

/** The state over time, as a band. */
export class StateBand {
  readonly element: HTMLElement;
  readonly #canvas = h('canvas', { class: 'band', role: 'img' });
  readonly #from = h('span');
  readonly #to = h('span');
  readonly #summary = h('span', { class: 'band-summary' });

  constructor() {
    this.element = h(
      'div',
      { class: 'band-box' },
      this.#canvas,
      h('div', { class: 'band-times note' }, this.#from, this.#summary, this.#to),
    );
  }

  update(series: Series, spanMs: number): void {
    const from = series.indexSince(spanMs);
    const at = series.at.slice(from);
    const spans = spansOf(at, series.words('state', from));
    const end = series.lastAt ?? 0;
    // As in the charts, the time before the first sample takes no room.
    const begin = Math.min(at[0] ?? end, end - 1000);
    const lengthMs = end - begin;
    setText(this.#from, clockMinute(begin));
    setText(this.#to, 'now');
    const parts = timeByState(spans).map(({ state, ms, times }) =>
      times > 1 ? `${state} ${duration(ms)} (${String(times)} times)` : `${state} ${duration(ms)}`,
    );
    setText(this.#summary, parts.join(' · '));
    setAttribute(
      this.#canvas,
      'aria-label',
      `State in the last ${String(spanMs / 60_000)} min: ${parts.join(', ')}`,
    );
    if (document.hidden) return;
    const width = this.#canvas.clientWidth;
    const ratio = devicePixelRatio;
    if (this.#canvas.width !== Math.round(width * ratio) || this.#canvas.height !== HEIGHT * ratio) {
      this.#canvas.width = Math.round(width * ratio);
      this.#canvas.height = HEIGHT * ratio;
    }
    const context = this.#canvas.getContext('2d');
    if (context === null) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, HEIGHT);
    context.fillStyle = colorOf('grid');
    context.fillRect(0, HEIGHT - 1, width, 1);
    for (const { state, from: start, to } of spans) {
      const x = ((start - begin) / lengthMs) * width;
      const length = ((to - start) / lengthMs) * width;
      const height = HEIGHT * (SHARE[state] ?? 1);
      context.fillStyle = colorOf(STATE_COLOR[state] ?? 'off');
      // A second of 15 minutes is less than a pixel on a phone.
      context.fillRect(x, HEIGHT - height, Math.max(length, state === 'accepting' ? 0.5 : 1.5), height);
    }
  }
}
