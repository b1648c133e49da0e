import type uPlot from 'uplot';
import { clock, clockMinute } from '../data/format.ts';

/** About the width of a character of an axis, in CSS pixels. */
const CHARACTER = 6.3;

/** The labels of a time axis: with seconds unless all are whole minutes. One that would be cut off at the end is empty. */
export function timesOf(plot: uPlot, ticks: readonly number[]): string[] {
  const isMinutes = ticks.every((tick) => tick % 60 === 0);
  const room = plot.bbox.width / devicePixelRatio;
  return ticks.map((tick) => {
    const text = (isMinutes ? clockMinute : clock)(tick * 1000);
    return plot.valToPos(tick, 'x') + (text.length * CHARACTER) / 2 > room + 6 ? '' : text;
  });
}
