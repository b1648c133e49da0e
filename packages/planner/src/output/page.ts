import { createHash } from 'node:crypto';
import { duration, grouped, percent } from '../base/format.ts';
import type { Figures, Plan, PlannedRun } from '../search/plan.ts';
import { chartOf, type Chart, type Line, type Span, escaped } from './chart.ts';
import { codeOf, titleOf, optionsText, memoryOf, nameOf, recoveryOf, switchedOff } from './text.ts';

/** Renders a plan as one HTML page that loads nothing and contains no script. */
export function renderPage(plan: Plan): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const { recommendation, warnings, time, request } = plan;
  const { burst } = request;
  const span: Span = {
    stepS: time.stepS,
    steps: time.steps,
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
    list([...recommendation.reasons, ...recoveryOf(plan), ...warnings]),
    '</section>',
    `<section>${runTable(plan)}</section>`,
    '<div class="charts">',
    ...chartsOf(plan).map((chart) => chartOf(chart, span)),
    ...recoveryChart(plan),
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

/** Load, capacity and goodput after a stall. */
function recoveryChart({ recovery, drainPerSecond, request }: Plan): string[] {
  if (recovery === null) return [];
  const { stallS, maxStallS, mode, stepS, load, goodput } = recovery;
  const shownS = stallS ?? maxStallS;
  const chart: Chart = {
    title: 'Does it recover?',
    unit: `per second, ${grouped(request.normalPerSecond)}/s and a stall of ${duration(shownS)}`,
    scale: 'linear',
    show: grouped,
    lines: [
      { label: 'requests, no middleware', look: 'arrivals', values: load },
      { label: 'capacity', look: 'other', values: load.map(() => drainPerSecond) },
      { label: 'handled in time, no middleware', look: 'nothing', values: goodput.nothing },
      { label: `handled in time, ${mode}`, look: 'recommended', values: goodput.ours },
    ],
  };
  return [chartOf(chart, { stepS, steps: load.length, burst: { fromS: 60, toS: 60 + shownS } })];
}

function lookOf({ name, isRecommended }: PlannedRun): string {
  if (isRecommended) return 'recommended';
  return name === 'nothing' || name === 'defaults' ? name : 'other';
}

/** The name of a run in legends and tables. */
function labelOf(run: PlannedRun): string {
  return `${nameOf(run)}${run.isRecommended ? ' (recommended)' : ''}`;
}

/** The figures of all runs and their senders. */
function runTable({ runs }: Plan): string {
  const head = ['', 'lost', '', 'attempts', 'p50', 'p99', 'burst done', 'queued', 'memory', ''];
  const rows = runs.flatMap((run) => {
    const ofRun = [duration(run.burstDoneS), grouped(run.maxDepth), memoryOf(run)];
    // The line of the run has the figures of a single sender.
    const senders = run.senders.length === 1 ? [] : run.senders;
    return [
      figuresRow('run', labelOf(run), run, ofRun, switchedOff(run).length > 0),
      ...senders.map((sender) =>
        figuresRow(
          'sender',
          sender.name,
          sender,
          ofRun.map(() => ''),
          sender.switchedOff,
        ),
      ),
    ];
  });
  return table(head, rows);
}

/** All configurations that were simulated. */
function triedTable({ tried }: Plan): string {
  const rows = tried.map(({ mode, concurrency, options, lost, attemptsPerEvent, p50S, p99S }) => {
    const cells = [
      optionsText({ concurrency, ...options }),
      ...[grouped(lost), attemptsPerEvent.toFixed(2), duration(p50S), duration(p99S)],
    ];
    return `<tr>${heading(mode === 'none' ? 'no middleware' : mode)}${cells.map(cell).join('')}</tr>`;
  });
  return table(['', 'options', 'lost', 'attempts', 'p50', 'p99'], rows);
}

function figuresRow(
  kind: 'run' | 'sender',
  name: string,
  { lost, events, attemptsPerEvent, delayS }: Figures,
  ofRun: readonly string[],
  isOff: boolean,
): string {
  const cells = [
    percent(lost, events),
    attemptsPerEvent.toFixed(2),
    duration(delayS.p50),
    duration(delayS.p99),
    ...ofRun,
  ];
  return [
    `<tr class="${kind}">`,
    heading(name),
    `<td class="${lost === 0 ? 'ok' : 'bad'}">${grouped(lost)}</td>`,
    ...cells.map(cell),
    isOff ? '<td class="bad">switched off</td>' : '<td></td>',
    '</tr>',
  ].join('');
}

function table(head: readonly string[], rows: readonly string[]): string {
  const titles = head.map((title) => `<th scope="col">${title}</th>`).join('');
  return `<table><thead><tr>${titles}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

function heading(text: string): string {
  return `<th scope="row">${escaped(text)}</th>`;
}

function cell(text: string): string {
  return `<td>${escaped(text)}</td>`;
}

/** The style sheet of the page, for light and dark. */
const STYLE = `
:root {
  color-scheme: light dark;
  --bg: #f4f5f7; --surface: #ffffff; --border: #dfe3e8; --grid: #e9ecf0; --ink: #14181f; --muted: #55606e;
  --bad: #b91c1c; --ok: #14713a; --burst: #fff1d6;
  --nothing: #64748b; --defaults: #2563eb; --recommended: #0d9488; --other: #7c3aed; --arrivals: #d97706;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #0d1015; --surface: #151a21; --border: #262d38; --grid: #232a34; --ink: #e7eaef; --muted: #9aa6b5;
    --bad: #ff8f8f; --ok: #5fd08f; --burst: #2e2412;
    --nothing: #94a3b8; --defaults: #5b9bff; --recommended: #2cc7b4; --other: #ab8bfa; --arrivals: #f0a92e;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 24px; background: var(--bg); color: var(--ink); font-variant-numeric: tabular-nums;
  font: 14px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
}
main { max-width: 1200px; margin: 0 auto; display: grid; gap: 16px; }
h1 { font-size: 20px; margin: 0 0 4px; }
h2 { font-size: 15px; margin: 0 0 8px; }
p, ul { margin: 0; }
p { color: var(--muted); }
section { background: var(--surface); border: 1px solid var(--border); border-radius: 8px; padding: 16px; overflow-x: auto; }
pre { margin: 0 0 12px; padding: 10px 12px; background: var(--bg); border-radius: 6px; overflow-x: auto; }
section ul.reasons { padding-left: 18px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: 4px 10px; border-bottom: 1px solid var(--grid); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { color: var(--muted); font-weight: 500; }
tr.run th, tr.run td { font-weight: 650; }
tr.sender th { font-weight: 400; padding-left: 26px; }
.bad { color: var(--bad); }
.ok { color: var(--ok); }
.charts { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); }
.chart { margin: 0; background: var(--surface); border: 1px solid var(--border); border-radius: 8px; padding: 14px; }
figcaption span, .chart text, .legend { color: var(--muted); fill: var(--muted); font-size: 12px; }
.chart > svg { display: block; width: 100%; height: auto; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 14px; padding: 0; margin: 4px 0; }
.swatch { width: 22px; height: 8px; margin-right: 5px; vertical-align: middle; }
path { fill: none; stroke-width: 1.75; stroke-linejoin: round; }
.swatch path { stroke-width: 3; }
.grid { stroke: var(--grid); stroke-width: 1; }
.axis { stroke: var(--muted); stroke-width: 1; }
.burst { fill: var(--burst); }
.nothing { stroke: var(--nothing); }
.defaults { stroke: var(--defaults); }
.recommended { stroke: var(--recommended); }
.other { stroke: var(--other); }
.arrivals { stroke: var(--arrivals); stroke-dasharray: 5 4; }
summary { cursor: pointer; font-weight: 600; }
details table { margin-top: 8px; }
`;
