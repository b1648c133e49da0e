/** One bar, with the range that its value took. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly isOurs: boolean;
}

export interface Line {
  readonly label: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly isOurs: boolean;
}

const WIDTH = 720;
const LABEL_WIDTH = 220;
const VALUE_WIDTH = 60;
const BAR_HEIGHT = 22;
const GAP = 8;
const HEAD = 40;
const OURS = '#0b6e4f';
const OTHERS = '#9aa5b1';
const INK = '#1f2933';
const FAINT = '#d9dee4';
/** Told apart by colour-blind readers as well (Okabe and Ito). */
const PALETTE = ['#d55e00', '#0072b2', '#cc79a7', '#e69f00', '#56b4e9', '#7b8794'];

/** Horizontal bars from zero, ours marked, each with the range of its rounds; a dashed line at 1. */
export function barChart(title: string, bars: readonly Bar[]): string {
  const most = Math.max(1, ...bars.map(({ max }) => max)) * 1.05;
  const scale = (value: number): number => LABEL_WIDTH + (value / most) * (WIDTH - LABEL_WIDTH - VALUE_WIDTH);
  const height = HEAD + bars.length * (BAR_HEIGHT + GAP) + GAP;
  const rows = bars.map(({ label, value, min, max, isOurs }, index) => {
    const y = HEAD + index * (BAR_HEIGHT + GAP);
    const middle = y + BAR_HEIGHT / 2;
    return [
      text(LABEL_WIDTH - 10, middle + 4, label, `text-anchor="end"${isOurs ? ' font-weight="bold"' : ''}`),
      `<rect x="${at(scale(0))}" y="${at(y)}" width="${at(scale(value) - scale(0))}" height="${String(BAR_HEIGHT)}" fill="${isOurs ? OURS : OTHERS}"/>`,
      `<path d="M${at(scale(min))} ${at(middle)}H${at(scale(max))}" stroke="${INK}" stroke-width="2"/>`,
      text(Math.max(scale(max), scale(value)) + 8, middle + 4, value.toFixed(2)),
    ].join('');
  });
  const one = `<path d="M${at(scale(1))} ${String(HEAD - 6)}V${String(height - GAP)}" stroke="${INK}" stroke-dasharray="3 3"/>`;
  return svg(height, title, [...rows, one]);
}

/** Lines over a common axis from zero, with a legend. */
export function lineChart(
  title: string,
  lines: readonly Line[],
  axes: { x: string; y: string; isLogX?: boolean },
): string {
  const height = 380;
  const [left, right, top, bottom] = [60, WIDTH - 215, HEAD + 10, height - 50];
  const forward = axes.isLogX === true ? Math.log10 : (value: number): number => value;
  const xs = lines.flatMap(({ points }) => points.map(([x]) => x));
  const [leastX, mostX] = [forward(Math.min(...xs)), forward(Math.max(...xs))];
  const mostY = niceAbove(Math.max(...lines.flatMap(({ points }) => points.map(([, y]) => y))));
  const x = (value: number): number =>
    left + ((forward(value) - leastX) / (mostX - leastX || 1)) * (right - left);
  const y = (value: number): number => bottom - (value / mostY) * (bottom - top);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const value = share * mostY;
    return `<path d="M${at(left)} ${at(y(value))}H${at(right)}" stroke="${FAINT}"/>${text(left - 8, y(value) + 4, short(value), 'text-anchor="end"')}`;
  });
  const ticks = (
    axes.isLogX === true ? [...new Set(xs)] : [0, 0.25, 0.5, 0.75, 1].map((share) => share * mostX)
  ).map((value) => text(x(value), bottom + 18, short(value), 'text-anchor="middle"'));
  let used = 0;
  const drawn = lines.map(({ label, points, isOurs }, index) => {
    const colour = isOurs ? OURS : (PALETTE[used++ % PALETTE.length] as string);
    const path = points.map(([px, py], i) => `${i === 0 ? 'M' : 'L'}${at(x(px))} ${at(y(py))}`).join('');
    const legendY = top + 10 + index * 22;
    return [
      `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${isOurs ? '3' : '1.8'}" stroke-linejoin="round"/>`,
      `<path d="M${at(right + 16)} ${at(legendY)}h20" stroke="${colour}" stroke-width="${isOurs ? '4' : '3'}"/>`,
      text(right + 42, legendY + 4, label, isOurs ? 'font-weight="bold"' : ''),
    ].join('');
  });
  const names = [
    text((left + right) / 2, height - 12, axes.x, 'text-anchor="middle"'),
    text(left, top - 8, axes.y, 'text-anchor="start"'),
  ];
  return svg(height, title, [...grid, ...ticks, ...names, ...drawn]);
}

function svg(height: number, title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(WIDTH)} ${String(height)}" width="${String(WIDTH)}" height="${String(height)}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif" font-size="13" fill="${INK}">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    text(16, 24, title, 'font-size="15" font-weight="bold"'),
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function text(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${at(x)}" y="${at(y)}" ${attributes}>${escaped(content)}</text>`;
}

function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return ([1, 2, 4, 5, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}

function short(value: number): string {
  if (value >= 1e6) return `${String(value / 1e6)}M`;
  if (value >= 1e3) return `${String(value / 1e3)}k`;
  return String(Number(value.toPrecision(3)));
}
