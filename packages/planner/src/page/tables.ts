import { duration, grouped, percent } from '../base/format.ts';
import { optionsText } from '../search/code.ts';
import type { Figures } from '../search/outcome.ts';
import type { Plan, PlannedRun } from '../search/plan.ts';
import { memoryOf, nameOf, switchedOff } from '../search/titles.ts';
import { escaped } from './markup.ts';

/** The name of a run in legends and tables. */
export function labelOf(run: PlannedRun): string {
  return `${nameOf(run)}${run.isRecommended ? ' (recommended)' : ''}`;
}

/** The figures of all runs and their senders. */
export function runTable({ runs }: Plan): string {
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
export function triedTable({ tried }: Plan): string {
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
