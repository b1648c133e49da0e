import uPlot from 'uplot';
import { clockMinute, count, plural } from '../data/format.ts';
import { h, newId, setText } from '../parts/dom.ts';
import { Table } from '../parts/table.ts';
import { colorOf } from './colors.ts';
import { detailsOf, Plot, type PlotOptions } from './plot.ts';
import { DELIVERIES } from './units.ts';

const SLOT_SECONDS = 10;

/** The calendar of expected retries, which the intake has booked: bars for each 10 s of the next 15 minutes, and what can be drained in each. */
export class BookingChart {
  readonly element: HTMLElement;
  readonly #plot = new Plot(plotOptions);
  readonly #summary = h('p', { class: 'note' });
  readonly #details: HTMLDetailsElement;
  readonly #table: Table<readonly [from: number, count: number]>;
  #data: uPlot.AlignedData = [[], [], []];

  constructor(span: 8) {
    const id = newId();
    this.#table = new Table(
      'Expected retries per minute',
      [{ label: 'From' }, { label: 'Retries', class: 'number' }],
      (cells, [from, retries]) => {
        setText(cells[0] as Element, clockMinute(from));
        setText(cells[1] as Element, count(retries));
      },
    );
    this.#details = detailsOf('Expected retries', this.#table.element, () => {
      this.#showTable();
    });
    this.element = h(
      'section',
      { class: `card chart span-${String(span)}`, 'aria-labelledby': id },
      h('header', { class: 'card-head' }, h('h2', { id }, 'Retries expected')),
      h(
        'ul',
        { class: 'legend' },
        h('li', {}, h('i', { class: 'swatch violet area' }), 'Expected in 10 s'),
        h('li', {}, h('i', { class: 'swatch grey dashed' }), 'Drain rate × 10 s'),
      ),
      this.#summary,
      this.#plot.element,
      this.#details,
    );
  }

  update(at: number, ahead: readonly number[], drainRate: number | null): void {
    const limit = drainRate === null ? null : drainRate * SLOT_SECONDS;
    // A bar is drawn around its middle.
    const times = ahead.map((_, slot) => at / 1000 + (slot + 0.5) * SLOT_SECONDS);
    this.#data = [times, [...ahead], ahead.map(() => limit)];
    const text = summaryOf(at, ahead);
    setText(this.#summary, text);
    this.#plot.show(this.#data, `Retries expected in the next 15 minutes. ${text}`);
    this.#showTable();
  }

  recolor(): void {
    this.#plot.recolor();
  }

  close(): void {
    this.#plot.close();
  }

  #showTable(): void {
    if (!this.#details.open) return;
    const [times, ahead] = this.#data;
    const minutes: [number, number][] = [];
    for (const [slot, time] of times.entries()) {
      const booked = ahead?.[slot] ?? 0;
      const minute = minutes[Math.floor(slot / 6)];
      if (minute === undefined) minutes.push([(time - SLOT_SECONDS / 2) * 1000, booked]);
      else minute[1] += booked;
    }
    this.#table.show(minutes);
  }
}

function summaryOf(at: number, ahead: readonly number[]): string {
  const sum = ahead.reduce((total, value) => total + value, 0);
  if (sum === 0) return 'No retry is expected.';
  const most = Math.max(...ahead);
  const busiest = at + ahead.indexOf(most) * SLOT_SECONDS * 1000;
  const last = ahead.findLastIndex((value) => value > 0);
  const until = clockMinute(at + (last + 1) * SLOT_SECONDS * 1000);
  return `${plural(sum, 'retry', 'retries')} until ${until}, at most ${count(most)} in 10 s (${clockMinute(busiest)}).`;
}

function plotOptions(): PlotOptions {
  return {
    cursor: { show: false },
    scales: {
      x: { range: (_, from, to): [number, number] => [from - SLOT_SECONDS / 2, to + SLOT_SECONDS / 2] },
    },
    axes: [
      { space: 64, incrs: [60, 120, 180, 300] },
      {
        size: 44,
        incrs: DELIVERIES.steps,
        values: (_, ticks): string[] => ticks.map(DELIVERIES.axis),
      },
    ],
    series: [
      {},
      {
        stroke: colorOf('violet'),
        fill: `${colorOf('violet')}99`,
        width: 0,
        paths: (uPlot.paths.bars as uPlot.Series.BarsPathBuilderFactory)({ size: [0.8, 24] }),
        points: { show: false },
      },
      { stroke: colorOf('grey'), width: 1.25, dash: [5, 4], points: { show: false } },
    ],
  };
}
