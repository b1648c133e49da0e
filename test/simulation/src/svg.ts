import type { Scale } from '@webhook-backpressure/planner/parts';

/** A rectangle, in the units of the image. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Draws the frame with grid lines, numbers and axis names; numbers along x only if x has a name. */
export function axes(
  { left, right, top, bottom }: Frame,
  x: Scale,
  y: Scale,
  names: { readonly x?: string; readonly y: string },
): string[] {
  const middle = (top + bottom) / 2;
  const parts = y.ticks.flatMap((tick) => {
    const at = y.at(tick).toFixed(1);
    return [
      `<path d="M${String(left)} ${at}H${String(right)}" stroke="#e3e3e3"/>`,
      `<text x="${String(left - 8)}" y="${(y.at(tick) + 4).toFixed(1)}" text-anchor="end">${grouped(tick)}</text>`,
    ];
  });
  parts.push(
    `<text transform="translate(16 ${String(middle)}) rotate(-90)" text-anchor="middle">${escaped(names.y)}</text>`,
    `<path d="M${String(left)} ${String(top)}V${String(bottom)}H${String(right)}" fill="none" stroke="#444444"/>`,
  );
  for (const tick of x.ticks) {
    const at = x.at(tick).toFixed(1);
    parts.push(`<path d="M${at} ${String(bottom)}v5" stroke="#444444"/>`);
    if (names.x === undefined) continue;
    parts.push(`<text x="${at}" y="${String(bottom + 19)}" text-anchor="middle">${grouped(tick)}</text>`);
  }
  if (names.x !== undefined) {
    const center = ((left + right) / 2).toFixed(1);
    parts.push(
      `<text x="${center}" y="${String(bottom + 36)}" text-anchor="middle">${escaped(names.x)}</text>`,
    );
  }
  return parts;
}

export function polyline(points: readonly (readonly [number, number])[], color: string, width = 1.5): string {
  const list = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  return `<polyline points="${list}" fill="none" stroke="${color}" stroke-width="${String(width)}" stroke-linejoin="round"/>`;
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}
