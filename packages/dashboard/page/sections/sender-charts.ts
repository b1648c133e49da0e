import { OUTBOX_CHARTS } from '../charts/chart-list.ts';
import { onColorScheme } from '../charts/colors.ts';
import { LineChart } from '../charts/line-chart.ts';
import type { OutboxSource } from '../data/wire.ts';
import { h } from '../parts/dom.ts';
import type { Section } from '../parts/section.ts';

/** All charts of a sender. */
export function senderChartSection(spanMs: () => number): Section<OutboxSource> {
  const charts = OUTBOX_CHARTS.map((options) => new LineChart(options));
  const ignoreColorScheme = onColorScheme(() => {
    for (const chart of charts) chart.recolor();
  });
  return {
    element: h('div', { class: 'grid' }, ...charts.map(({ element }) => element)),
    update(_, series): void {
      for (const chart of charts) chart.update(series, spanMs());
    },
    close(): void {
      ignoreColorScheme();
      for (const chart of charts) chart.close();
    },
  };
}
