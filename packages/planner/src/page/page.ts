import { createHash } from 'node:crypto';
import { duration, grouped } from '../base/format.ts';
import { codeOf } from '../search/code.ts';
import type { Plan, PlannedRun } from '../search/plan.ts';
import { titleOf } from '../search/titles.ts';
import { chartOf, type Chart, type Line, type Span } from './chart.ts';
import { escaped } from './markup.ts';
import { STYLE } from './style.ts';
import { labelOf, runTable, triedTable } from './tables.ts';

/** Renders a plan as one HTML page that loads nothing and contains no script. */
export function renderPage(plan: Plan): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const { recommendation, warnings, time, request } = plan;
  const { burst } = request;
  const span: Span = {
    ...{ stepS: time.stepS, steps: time.steps },
    burst: burst === null ? undefined : { fromS: time.burstAtS, toS: time.burstAtS + burst.seconds },
  };
  const list = (texts: readonly string[]): string =>
    `<ul class="reasons">${texts.map((text) => `<li>${escaped(text)}</li>`).join('')}</ul>`;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<title>Plan for a burst of webhooks</title>',
    `<style>${STYLE}</style>`,
    '</head>',
    '<body>',
    '<main>',
    `<header><h1>Plan for a burst of webhooks</h1><p>${escaped(titleOf(plan))}</p></header>`,
    '<section>',
    `<h2>Recommended: ${recommendation.mode === 'inbox' ? 'the inbox' : 'hold requests'}</h2>`,
    `<pre><code>${escaped(codeOf(plan).join('\n'))}</code></pre>`,
    list([...recommendation.reasons, ...warnings]),
    '</section>',
    `<section>${runTable(plan)}</section>`,
    '<div class="charts">',
    ...chartsOf(plan).map((chart) => chartOf(chart, span)),
    '</div>',
    `<section><details><summary>All ${String(plan.tried.length)} configurations that were simulated</summary>${triedTable(plan)}</details></section>`,
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function chartsOf({ runs, time, request }: Plan): Chart[] {
  const lines = (of: (run: PlannedRun) => Line['values']): Line[] =>
    runs.map((run) => ({ label: labelOf(run), look: lookOf(run), values: of(run) }));
  const rate = { unit: 'per second', scale: 'linear', show: grouped } as const;
  const arrivals: Line = { label: 'first attempts', look: 'arrivals', values: time.arrivals };
  return [
    {
      title: 'Queued or stored',
      unit: 'deliveries',
      scale: 'logarithmic',
      show: grouped,
      lines: lines(({ curves }) => curves.depth),
    },
    { title: 'Handled', ...rate, lines: lines(({ curves }) => curves.completed) },
    { title: 'Refused', ...rate, lines: [...lines(({ curves }) => curves.refused), arrivals] },
    ...request.senders.map(({ name }) => ({
      title: `Delay of ${name}`,
      unit: 'median, by time of arrival',
      scale: 'logarithmic time' as const,
      show: duration,
      lines: lines(({ curves }) => curves.delayS[name] ?? []),
    })),
  ];
}

function lookOf({ name, isRecommended }: PlannedRun): string {
  if (isRecommended) return 'recommended';
  return name === 'nothing' || name === 'defaults' ? name : 'other';
}
