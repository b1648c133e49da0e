import { createHash } from 'node:crypto';
import type { Plan } from '../search/plan.ts';
import { escaped } from './chart.ts';
import { chartsOf, figuresOf, reasonsOf, triedOf } from './sections.ts';
import { codeOf, recommendedOf, titleOf } from './text.ts';

/** Renders a plan as one HTML page that loads nothing and contains no script. */
export function renderPage(plan: Plan): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
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
    `<h2>${recommendedOf(plan)}</h2>`,
    `<pre><code>${escaped(codeOf(plan).join('\n'))}</code></pre>`,
    reasonsOf(plan),
    '</section>',
    `<section>${figuresOf(plan.runs)}</section>`,
    chartsOf(plan),
    `<section>${triedOf(plan)}</section>`,
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
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
section { background: var(--surface); border: 1px solid var(--border); border-radius: 8px; padding: 16px; }
.wide { overflow-x: auto; }
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
