import { BookingChart } from '../charts/booking-chart.ts';
import { INBOX_CHARTS, INTAKE_CHARTS } from '../charts/chart-list.ts';
import { onColorScheme } from '../charts/colors.ts';
import { LineChart } from '../charts/line-chart.ts';
import { snapshotOf, type Source } from '../data/wire.ts';
import { h } from '../parts/dom.ts';
import type { Section } from '../parts/section.ts';

/** All charts of an intake or an inbox. */
export function chartSection(kind: Source['kind'], spanMs: () => number): Section {
  const charts = (kind === 'intake' ? INTAKE_CHARTS : INBOX_CHARTS).map((options) => new LineChart(options));
  const bookings = new BookingChart(8);
  const ignoreColorScheme = onColorScheme(() => {
    for (const chart of [...charts, bookings]) chart.recolor();
  });
  return {
    element: h('div', { class: 'grid' }, ...charts.map(({ element }) => element), bookings.element),
    update(source, series): void {
      for (const chart of charts) chart.update(series, spanMs());
      const { bookedAhead, drainRate } = snapshotOf(source);
      bookings.update(series.lastAt ?? 0, bookedAhead, drainRate);
    },
    close(): void {
      ignoreColorScheme();
      for (const chart of [...charts, bookings]) chart.close();
    },
  };
}
