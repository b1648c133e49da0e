import uPlot from 'uplot';
import { h, setAttribute } from '../parts/dom.ts';
import { colorOf } from './colors.ts';
import { timesOf } from './time-axis.ts';

const HEIGHT = 172;
const FONT = '11px system-ui, sans-serif';

/** What a chart decides about its plot. */
export type PlotOptions = Pick<uPlot.Options, 'series'> &
  Partial<Omit<uPlot.Options, 'series' | 'axes'>> & {
    readonly axes: readonly [x: uPlot.Axis, y: uPlot.Axis];
  };

/** A canvas as wide as its place. It is drawn only while it can be seen, and made again for other colors. */
export class Plot {
  readonly element: HTMLElement = h('div', { class: 'plot', role: 'img' });
  readonly #options: () => PlotOptions;
  readonly #resize: ResizeObserver;
  #plot: uPlot | undefined;
  #data: uPlot.AlignedData | undefined;

  /** @param options - called each time that the plot is made, for the current colors. */
  constructor(options: () => PlotOptions) {
    this.#options = options;
    this.#resize = new ResizeObserver(() => {
      this.#draw();
    });
    this.#resize.observe(this.element);
  }

  /** @param summary - the values as text, for screen readers. */
  show(data: uPlot.AlignedData, summary: string): void {
    this.#data = data;
    setAttribute(this.element, 'aria-label', summary);
    this.#draw();
  }

  /** Draws again with other colors. */
  recolor(): void {
    this.#plot?.destroy();
    this.#plot = undefined;
    this.#draw();
  }

  close(): void {
    this.#resize.disconnect();
    this.#plot?.destroy();
  }

  #draw(): void {
    const width = this.element.clientWidth;
    // In a hidden tab, it is drawn when the tab is shown again.
    if (width === 0 || document.hidden || this.#data === undefined) return;
    if (this.#plot === undefined) {
      this.#plot = new uPlot(complete(this.#options(), width), this.#data, this.element);
    } else {
      if (this.#plot.width !== width) this.#plot.setSize({ width, height: HEIGHT });
      this.#plot.setData(this.#data);
    }
  }
}

function complete(options: PlotOptions, width: number): uPlot.Options {
  const { scales, axes } = options;
  const common = { stroke: colorOf('muted'), font: FONT, ticks: { show: false } };
  return {
    ...options,
    width,
    height: HEIGHT,
    padding: [8, 6, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: true, ...scales?.['x'] },
      y: {
        range: (_, __, most): [number, number] => [0, Math.max((Number.isFinite(most) ? most : 0) * 1.08, 1)],
      },
    },
    axes: [
      { ...common, grid: { show: false }, size: 22, gap: 4, values: timesOf, ...axes[0] },
      { ...common, grid: { stroke: colorOf('grid'), width: 1 }, gap: 6, space: 28, ...axes[1] },
    ],
  };
}

/** A table of values below a chart, which is filled only while it is open. */
export function detailsOf(title: string, table: HTMLElement, onOpen: () => void): HTMLDetailsElement {
  const details = h(
    'details',
    {},
    h('summary', {}, 'Values per minute'),
    h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': `${title}, values` }, table),
  );
  details.addEventListener('toggle', onOpen);
  return details;
}
