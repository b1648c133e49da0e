import { scale, type Scale, type Second } from '@webhook-backpressure/planner/parts';
import { axes, escaped, polyline, type Frame } from './svg.ts';

/** The labels of a plot. */
export interface PlotLabels {
  readonly title: string;
  /** Horizontal lines in the plot of the depth, in deliveries. */
  readonly marks: readonly { readonly label: string; readonly depth: number }[];
}

const WIDTH = 880;
const HEIGHT = 470;
const LEFT = 64;
const RIGHT = WIDTH - 20;
const RATES: Frame = { left: LEFT, right: RIGHT, top: 62, bottom: 252 };
const DEPTH: Frame = { left: LEFT, right: RIGHT, top: 290, bottom: 424 };
/** More points than this are indistinguishable. */
const MAX_POINTS = 300;

const LINES = [
  { label: 'first attempts', color: '#3465c4', of: (second: Second): number => second.arrivals },
  { label: 'retries', color: '#d98c00', of: (second: Second): number => second.retries },
  { label: 'refusals', color: '#c8373d', of: (second: Second): number => second.refusals },
];
const DEPTH_COLOR = '#2d8a4e';
const MARK_COLOR = '#777777';

/** Plots arrivals, retries, refusals and depth over time as an SVG image. */
export function plot(seconds: readonly Second[], { title, marks }: PlotLabels): string {
  const step = Math.max(1, Math.ceil(seconds.length / MAX_POINTS));
  const bins = binned(seconds, step);
  const x = scale(0, bins.length * step, RATES.left, RATES.right);
  const ratesTop = Math.max(1, ...LINES.flatMap(({ of }) => bins.map(of)));
  const depthTop = Math.max(1, ...bins.map(({ depth }) => depth), ...marks.map(({ depth }) => depth));
  const rates = scale(0, ratesTop, RATES.bottom, RATES.top);
  const depths = scale(0, depthTop, DEPTH.bottom, DEPTH.top);
  const line = (of: (bin: Second) => number, y: Scale): [number, number][] =>
    bins.map((bin, index) => [x.at((index + 0.5) * step), y.at(of(bin))]);

  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(WIDTH)} ${String(HEIGHT)}" font-family="sans-serif" font-size="12" fill="#222222">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${String(WIDTH)}" height="${String(HEIGHT)}" fill="#ffffff"/>`,
    `<text x="${String(LEFT)}" y="24" font-size="15" font-weight="bold">${escaped(title)}</text>`,
    ...legend(),
    ...axes(RATES, x, rates, { y: 'per second' }),
    ...LINES.map(({ of, color }) => polyline(line(of, rates), color)),
    ...axes(DEPTH, x, depths, { x: 'seconds', y: 'queued' }),
    polyline(
      line(({ depth }) => depth, depths),
      DEPTH_COLOR,
    ),
    ...marks.flatMap(({ label, depth }) => mark(label, depths.at(depth))),
    '</svg>',
    '',
  ].join('\n');
}

function legend(): string[] {
  const entries = [...LINES, { label: 'depth', color: DEPTH_COLOR }];
  return entries.flatMap(({ label, color }, index) => {
    const x = LEFT + index * 130;
    return [
      polyline(
        [
          [x, 43],
          [x + 22, 43],
        ],
        color,
        2.5,
      ),
      `<text x="${String(x + 28)}" y="47">${label}</text>`,
    ];
  });
}

function mark(label: string, y: number): string[] {
  const at = y.toFixed(1);
  return [
    `<path d="M${String(LEFT)} ${at}H${String(RIGHT)}" stroke="${MARK_COLOR}" stroke-dasharray="5 4"/>`,
    `<text x="${String(RIGHT)}" y="${(y - 4).toFixed(1)}" text-anchor="end" font-size="11" fill="#555555" stroke="#ffffff" stroke-width="4" stroke-linejoin="round" paint-order="stroke">${escaped(label)}</text>`,
  ];
}

/** Mean rates and maximum depth of every `step` seconds. */
function binned(seconds: readonly Second[], step: number): Second[] {
  const bins: Second[] = [];
  for (let from = 0; from < seconds.length; from += step) {
    const part = seconds.slice(from, from + step);
    const mean = (of: (second: Second) => number): number =>
      part.reduce((sum, second) => sum + of(second), 0) / part.length;
    bins.push({
      arrivals: mean(({ arrivals }) => arrivals),
      retries: mean(({ retries }) => retries),
      refusals: mean(({ refusals }) => refusals),
      completions: mean(({ completions }) => completions),
      retryAfterS: mean(({ retryAfterS }) => retryAfterS),
      depth: Math.max(...part.map(({ depth }) => depth)),
    });
  }
  return bins;
}
