import { duration } from '../base/format.ts';

/** Escapes text for HTML and SVG, also within quoted attributes. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Maps values to positions along an axis. */
export interface Scale {
  at(value: number): number;
  readonly ticks: readonly number[];
}

const TICKS = 5;

/** A linear scale with round ticks. */
export function scale(from: number, to: number, start: number, end: number): Scale {
  const rough = (to - from) / TICKS;
  let power = 1;
  while (power * 10 <= rough) power *= 10;
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? power;
  return linear(from, to, start, end, step);
}

/** A linear scale of seconds, with ticks at whole seconds, minutes or hours. */
function timeScale(toS: number, start: number, end: number): Scale {
  const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 36_000, 86_400];
  return linear(0, toS, start, end, steps.find((step) => toS / step <= TICKS + 1) ?? toS);
}

function linear(from: number, to: number, start: number, end: number, step: number): Scale {
  const ticks: number[] = [];
  for (let tick = from; tick <= to; tick += step) ticks.push(tick);
  return { at: (value) => start + ((value - from) / (to - from)) * (end - start), ticks };
}

/** A logarithmic scale with ticks at powers of ten. Values below `from` are at the start. */
function logScale(from: number, to: number, start: number, end: number): Scale {
  const low = Math.floor(Math.log10(from));
  const high = Math.max(low + 1, Math.ceil(Math.log10(to)));
  return logarithmic(
    Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)),
    start,
    end,
  );
}

const DURATIONS_S = [0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 36_000, 360_000, 3_600_000];

/** The same for seconds, with ticks at round times. */
function logTimeScale(from: number, to: number, start: number, end: number): Scale {
  const first = Math.max(
    0,
    DURATIONS_S.findLastIndex((s) => s <= from),
  );
  const last = DURATIONS_S.findIndex((s) => s >= to);
  return logarithmic(DURATIONS_S.slice(first, Math.max(first + 1, last) + 1), start, end);
}

function logarithmic(ticks: readonly number[], start: number, end: number): Scale {
  const low = Math.log10(ticks[0] as number);
  const high = Math.log10(ticks.at(-1) as number);
  return {
    at: (value) => {
      const power = value <= 0 ? low : Math.max(low, Math.log10(value));
      return start + ((power - low) / (high - low)) * (end - start);
    },
    ticks,
  };
}

/** A line of a chart. */
export interface Line {
  readonly label: string;
  /** The class that colors it. */
  readonly look: string;
  /** By step; null interrupts the line. */
  readonly values: readonly (number | null)[];
}

/** A chart over time. */
export interface Chart {
  readonly title: string;
  /** In words, under the title. */
  readonly unit: string;
  readonly lines: readonly Line[];
  readonly scale: 'linear' | 'logarithmic' | 'logarithmic time';
  readonly show: (value: number) => string;
}

/** What all charts of a page share. */
export interface Span {
  readonly stepS: number;
  readonly steps: number;
  /** When the burst arrives; undefined without one. */
  readonly burst: { readonly fromS: number; readonly toS: number } | undefined;
}

const WIDTH = 560;
const HEIGHT = 240;
const LEFT = 62;
const RIGHT = WIDTH - 14;
const TOP = 12;
const BOTTOM = HEIGHT - 26;
/** Values below this are drawn at the bottom of a logarithmic chart. */
const LEAST = 0.01;

/** Draws a chart as a figure with a legend. */
export function chartOf({ title, unit, lines, scale: kind, show }: Chart, span: Span): string {
  const x = timeScale(span.steps * span.stepS, LEFT, RIGHT);
  const values = lines.flatMap((line) => line.values.filter((value) => value !== null));
  const y = yScale(values, kind);
  return [
    '<figure class="chart">',
    `<figcaption><b>${escaped(title)}</b> <span>${escaped(unit)}</span></figcaption>`,
    legendOf(lines),
    `<svg viewBox="0 0 ${String(WIDTH)} ${String(HEIGHT)}" role="img" aria-label="${escaped(summaryOf(title, lines, show))}">`,
    ...burstOf(span, x),
    ...gridOf(x, y, show),
    ...lines.map((line) => pathOf(line, span, x, y)),
    '</svg>',
    '</figure>',
  ].join('\n');
}

function yScale(values: readonly number[], kind: Chart['scale']): Scale {
  const most = Math.max(1, ...values);
  if (kind === 'linear') return scale(0, most, BOTTOM, TOP);
  const least = Math.max(LEAST, Math.min(1, ...values.filter((value) => value > 0)));
  return (kind === 'logarithmic' ? logScale : logTimeScale)(least, most, BOTTOM, TOP);
}

function legendOf(lines: readonly Line[]): string {
  const entries = lines.map(
    ({ label, look }) =>
      `<li><svg class="swatch" viewBox="0 0 22 8" aria-hidden="true"><path class="${look}" d="M0 4H22"/></svg>${escaped(label)}</li>`,
  );
  return `<ul class="legend">${entries.join('')}</ul>`;
}

function burstOf({ burst }: Span, x: Scale): string[] {
  if (burst === undefined) return [];
  const from = x.at(burst.fromS);
  const width = Math.max(1.5, x.at(burst.toS) - from);
  return [
    `<rect class="burst" x="${from.toFixed(1)}" y="${String(TOP)}" width="${width.toFixed(1)}" height="${String(BOTTOM - TOP)}"><title>burst</title></rect>`,
  ];
}

function gridOf(x: Scale, y: Scale, show: (value: number) => string): string[] {
  return [
    ...y.ticks.map((tick) => {
      const at = y.at(tick).toFixed(1);
      return `<path class="grid" d="M${String(LEFT)} ${at}H${String(RIGHT)}"/><text x="${String(LEFT - 8)}" y="${String(Number(at) + 4)}" text-anchor="end">${escaped(show(tick))}</text>`;
    }),
    ...x.ticks.map((tick) => {
      const at = x.at(tick).toFixed(1);
      return `<path class="axis" d="M${at} ${String(BOTTOM)}v4"/><text x="${at}" y="${String(BOTTOM + 18)}" text-anchor="middle">${tick === 0 ? '0' : duration(tick)}</text>`;
    }),
    `<path class="axis" d="M${String(LEFT)} ${String(BOTTOM)}H${String(RIGHT)}"/>`,
  ];
}

function pathOf({ look, values }: Line, { stepS }: Span, x: Scale, y: Scale): string {
  let isDrawing = false;
  const parts = values.map((value, step) => {
    if (value === null) {
      isDrawing = false;
      return '';
    }
    const point = `${isDrawing ? 'L' : 'M'}${x.at((step + 0.5) * stepS).toFixed(1)} ${y.at(value).toFixed(1)}`;
    isDrawing = true;
    return point;
  });
  return `<path class="line ${look}" d="${parts.join('')}"/>`;
}

/** For readers that do not see the chart. */
function summaryOf(title: string, lines: readonly Line[], show: (value: number) => string): string {
  const extents = lines.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    return `${label}: ${known.length === 0 ? 'no values' : `at most ${show(Math.max(...known))}`}`;
  });
  return `${title}. ${extents.join('. ')}.`;
}
