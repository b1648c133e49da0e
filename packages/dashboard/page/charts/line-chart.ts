import type uPlot from 'uplot';
import { clock, clockMinute } from '../data/format.ts';
import type { Series } from '../data/series.ts';
import { byMinute, extentOf } from '../data/summary.ts';
import { h, newId, setText } from '../parts/dom.ts';
import { Table } from '../parts/table.ts';
import { colorOf, type ColorName } from './colors.ts';
import { detailsOf, Plot, type PlotOptions } from './plot.ts';
import type { Unit } from './units.ts';

export interface Line {
  /** The history column. */
  readonly column: string;
  readonly label: string;
  readonly color: ColorName;
  readonly look?: 'area' | 'dashed' | 'thin';
}

export interface ChartOptions {
  readonly title: string;
  readonly unit: Unit;
  readonly lines: readonly Line[];
  /** How many of twelve columns it takes on a wide screen. */
  readonly span: 4 | 6 | 8;
}

/** Lines over time: a canvas, its values as text above it, and a table of them below. */
export class LineChart {
  readonly element: HTMLElement;
  readonly #options: ChartOptions;
  readonly #plot = new Plot(() => this.#plotOptions());
  readonly #values: readonly HTMLElement[];
  readonly #time = h('span', { class: 'note' });
  readonly #details: HTMLDetailsElement;
  readonly #table: Table<ReturnType<typeof byMinute>[number]>;
  #data: uPlot.AlignedData = [[]];
  #cursor: number | null = null;

  constructor(options: ChartOptions) {
    this.#options = options;
    const { title, lines, span } = options;
    this.#values = lines.map(() => h('b', {}));
    const id = newId();
    const legend = h(
      'ul',
      { class: 'legend' },
      ...lines.map(({ label, color, look = 'line' }, index) =>
        h('li', {}, h('i', { class: `swatch ${color} ${look}` }), `${label} `, this.#values[index] ?? null),
      ),
    );
    this.#table = new Table(
      `${title}, per minute: the last value, and the least and the greatest`,
      [{ label: 'Minute' }, ...lines.map(({ label }) => ({ label, class: 'number' }))],
      (cells, row) => {
        setText(cells[0] as Element, clockMinute(row.at));
        for (const [index, extent] of row.extents.entries()) {
          setText(cells[index + 1] as Element, this.#extentText(extent));
        }
      },
    );
    this.#details = detailsOf(title, this.#table.element, () => {
      this.#showTable();
    });
    this.element = h(
      'section',
      { class: `card chart span-${String(span)}`, 'aria-labelledby': id },
      h('header', { class: 'card-head' }, h('h2', { id }, title), this.#time),
      legend,
      this.#plot.element,
      this.#details,
    );
  }

  update(series: Series, spanMs: number): void {
    const from = series.indexSince(spanMs);
    const at = series.at.slice(from).map((ms) => ms / 1000);
    const columns = this.#options.lines.map(({ column }) => series.numbers(column, from));
    this.#data = [at, ...columns];
    this.#showValues();
    this.#showTable();
    this.#plot.show(this.#data, this.#summary(spanMs));
  }

  /** Draws again with other colors. */
  recolor(): void {
    this.#plot.recolor();
  }

  close(): void {
    this.#plot.close();
  }

  #column(index: number): readonly (number | null)[] {
    return (this.#data[index + 1] ?? []) as (number | null)[];
  }

  #extentText({ last, least, most }: ReturnType<typeof extentOf>): string {
    const { text } = this.#options.unit;
    return least === most ? text(last) : `${text(last)} (${text(least)} to ${text(most)})`;
  }

  /** The values under the cursor, or the last ones. */
  #showValues(): void {
    const index = this.#cursor;
    for (const [line, element] of this.#values.entries()) {
      const column = this.#column(line);
      setText(element, this.#options.unit.text((index === null ? column.at(-1) : column[index]) ?? null));
    }
    const at = index === null ? undefined : this.#data[0][index];
    const isEmpty = this.#options.lines.every((_, line) =>
      this.#column(line).every((value) => value === null),
    );
    setText(this.#time, isEmpty ? 'no values yet' : at === undefined ? '' : clock(at * 1000));
  }

  #showTable(): void {
    if (!this.#details.open) return;
    const at = Array.from(this.#data[0], (second) => second * 1000);
    this.#table.show(
      byMinute(
        at,
        this.#options.lines.map((_, line) => this.#column(line)),
      ),
    );
  }

  #summary(spanMs: number): string {
    const { title, lines, unit } = this.#options;
    const parts = lines.map(({ label }, line) => {
      const { last, least, most } = extentOf(this.#column(line));
      if (most === null) return `${label}: no values`;
      return `${label}: now ${unit.text(last)}, lowest ${unit.text(least)}, highest ${unit.text(most)}`;
    });
    return `${title}, last ${String(spanMs / 60_000)} min. ${parts.join('. ')}.`;
  }

  #plotOptions(): PlotOptions {
    const { unit, lines } = this.#options;
    return {
      cursor: {
        sync: { key: 'time' },
        y: false,
        drag: { x: false, y: false },
        points: { size: 6 },
      },
      hooks: {
        setCursor: [
          (plot): void => {
            this.#cursor = plot.cursor.idx ?? null;
            this.#showValues();
          },
        ],
      },
      axes: [
        { space: 76 },
        {
          incrs: unit.steps,
          size: (_, texts): number =>
            14 + 6.3 * Math.max(2, ...((texts as string[] | null) ?? []).map(({ length }) => length)),
          values: (_, ticks): string[] => ticks.map(unit.axis),
        },
      ],
      series: [
        {},
        ...lines.map(({ label, color, look }): uPlot.Series => {
          const ink = colorOf(color);
          return {
            label,
            stroke: ink,
            width: look === 'dashed' || look === 'thin' ? 1.25 : 2,
            ...(look === 'dashed' ? { dash: [5, 4] } : {}),
            ...(look === 'area' ? { fill: `${ink}26` } : {}),
            points: { show: false },
          };
        }),
      ],
    };
  }
}
