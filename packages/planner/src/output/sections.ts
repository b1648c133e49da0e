import { duration, grouped, percent } from '../base/format.ts';
import type { Figures, Plan, PlannedRun } from '../search/plan.ts';
import { chartOf, type Chart, type Line, type Span, escaped } from './chart.ts';
import { optionsText, memoryOf, nameOf, recoveryOf, switchedOff } from './text.ts';

/** A run whose curves may not be known yet. */
export type SimulatedRun = Omit<PlannedRun, 'curves'>;

/** The reasons and the warnings of a plan: a list in HTML. */
export function reasonsOf(plan: Plan): string {
  const { recommendation, warnings } = plan;
  const reasons = [...recommendation.reasons, ...recoveryOf(plan), ...warnings].map(
    (text) => `<li>${escaped(text)}</li>`,
  );
  return `<ul class="reasons">${reasons.join('')}</ul>`;
}

/** The curves of a plan, in HTML. */
export function chartsOf(plan: Plan): string {
  const { request, time } = plan;
  const { burst } = request;
  const span: Span = {
    stepS: time.stepS,
    steps: time.steps,
    burst: burst === null ? undefined : { fromS: time.burstAtS, toS: time.burstAtS + burst.seconds },
  };
  const charts = linesOf(plan).map((chart) => chartOf(chart, span));
  return ['<div class="charts">', ...charts, ...recoveryChart(plan), '</div>'].join('\n');
}

function linesOf({ runs, time, request }: Plan): Chart[] {
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
function labelOf(run: SimulatedRun): string {
  return `${nameOf(run)}${run.isRecommended ? ' (recommended)' : ''}`;
}

/** The figures of all runs and their senders: a table in HTML. */
export function figuresOf(runs: readonly SimulatedRun[]): string {
  const titles = ['attempts', 'p50', 'p99', 'burst done', 'queued', 'memory', 'endpoint'];
  const head = ['configuration', 'lost', '%', ...titles];
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
  return table('Figures', head, rows);
}

/** All configurations that were simulated: details in HTML. */
export function triedOf({ tried }: Plan): string {
  const rows = tried.map(({ mode, concurrency, options, lost, attemptsPerEvent, p50S, p99S }) => {
    const cells = [
      optionsText({ concurrency, ...options }),
      ...[grouped(lost), attemptsPerEvent.toFixed(2), duration(p50S), duration(p99S)],
    ];
    return `<tr>${heading(mode === 'none' ? 'no middleware' : mode)}${cells.map(cell).join('')}</tr>`;
  });
  const head = ['mode', 'options', 'lost', 'attempts', 'p50', 'p99'];
  const title = `All ${String(tried.length)} configurations that were simulated`;
  return `<details><summary>${title}</summary>${table('Configurations', head, rows)}</details>`;
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

function table(label: string, head: readonly string[], rows: readonly string[]): string {
  const titles = head.map((title) => `<th scope="col">${title}</th>`).join('');
  // Scrolls by the keyboard as well.
  return `<div class="wide" role="group" aria-label="${label}" tabindex="0"><table><thead><tr>${titles}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`;
}

function heading(text: string): string {
  return `<th scope="row">${escaped(text)}</th>`;
}

function cell(text: string): string {
  return `<td>${escaped(text)}</td>`;
}
