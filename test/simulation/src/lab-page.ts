import { cell, ofSender, worstOf } from './lab-cells.ts';
import { MAX_ATTEMPTS, type LabReport } from './lab-figures.ts';
import { labGoals, type LabGoal } from './lab-reach.ts';
import {
  aloneName,
  FLOODS,
  isTogether,
  LAB_RUNS,
  mixtureName,
  MIXTURES,
  RECEIVERS,
  SHAPE_NAMES,
  type Receiver,
  type Shape,
} from './lab-runs.ts';
import { LAB_SENDERS, type LabSender } from './lab-senders.ts';
import { table } from './table.ts';

const TITLES: Readonly<Record<Shape, string>> = {
  S10: 'Ten minutes at five times the drain rate (S10)',
  S1: 'One minute at five times the drain rate (S1)',
  burst: '50,000 in one second (burst)',
};

const HEADS: Readonly<Record<Receiver, string>> = {
  none: 'no middleware',
  constant: 'constant 429',
  held: 'middleware',
  inbox: 'inbox',
  bound: 'bound',
};

const INTRODUCTION = [
  '# Sender lab',
  '',
  'Every known sender, simulated with its own timeout, schedule, treatment of `Retry-After` and rule for disabling an',
  'endpoint, as its [profile](../../../docs/senders.md) states them. It sends to the real queue or the real inbox, on a simulated clock.',
  '`npm run simulate:senders` writes this page, and a test checks it.',
  '',
  '## How to read it',
  '',
  'Ten workers take 100 ms for each delivery: the drain rate is 100/s. Deliveries arrive at random (Poisson). All options',
  'have their defaults. A cell says:',
  '',
  '- the **lost** events: those whose sender never got a success within its timeout; with the inbox, those that were never',
  '  handled',
  '- the **attempts** per event',
  '- the **delay** from the first attempt to the end of the handling, of the events that are not lost: median / p99',
  '- **off** if the sender disabled the endpoint. From then on its events are lost without an attempt.',
  `- **> ${String(MAX_ATTEMPTS)} attempts** if the run was stopped there: attempts time out in the queue, and retries are more than the workers`,
  '  can handle, so the receiver does not recover.',
  '',
  'Each run has one random seed. Of 143 runs with three, the lost share differed by 2.9 points at the most, and by less',
  'than 0.2 in 95 of 100; none differed in **off**. `–`: no run, or nothing to measure. S10 is more than',
  'the inbox holds by default.',
  '',
  '| Receiver | |',
  '| --- | --- |',
  '| no middleware | p-limit around the handler: a queue without a bound, in order of arrival, no refusals. Handlers run to their end even if the sender has disconnected. |',
  '| constant 429 | The same with at most 1,000 queued deliveries. Others get 429 with `Retry-After: 60`. |',
  '| middleware | `webhookBackpressure()`: the sender waits for the handler. |',
  '| inbox | `webhookInbox()`: the delivery is stored, acknowledged and handled later. The store takes no time. |',
  '| bound | The fewest losses that any receiver with these workers could have while the sender waits: it knows everything beforehand. |',
  '',
  'What senders do not publish is assumed: a timeout of 15 s, exponential backoff from 10 s to an hour, for a day. Each step',
  'of a schedule varies by 20 %. Senders that behave alike are simulated once and share a line.',
  '',
];

/** Renders the page of the lab. */
export function renderLab(report: LabReport): string {
  return [
    ...INTRODUCTION,
    ...gaps(report),
    '## Figures to reach',
    '',
    ...goals(report),
    ...SHAPE_NAMES.flatMap((shape) => ['', `## ${TITLES[shape]}`, '', ...aloneTable(report, shape)]),
    '',
    '## Small senders beside a flood',
    '',
    'A flood at five times the drain rate for ten minutes, and beside it small senders at the given share of the drain rate.',
    'Figures are those of the small sender.',
    ...FLOODS.flatMap((flood) => ['', `### Beside ${flood}`, '', ...mixtureTable(report, flood)]),
    '',
    '### All small senders together',
    '',
    'Each at 0.05 of the drain rate, worst of the small senders for each figure.',
    '',
    ...togetherTable(report),
    '',
  ].join('\n');
}

function goals(report: LabReport): string[] {
  const all = labGoals(report);
  const rows = all.map((goal) => [goal.case, goal.target, goal.reached, verdict(goal)]);
  const misses = all.flatMap(({ case: what, missed }) =>
    missed.length === 0 ? [] : ['', `Missed, ${what}:`, '', ...missed.map((one) => `- ${one}`)],
  );
  return [...table(['Case', 'Target', 'Worst', ''], rows), ...misses, ...(misses.length === 0 ? [] : WHY)];
}

const WHY = [
  '',
  'The bound takes no account of disabled endpoints. At five times the drain rate four of five attempts fail while the sender',
  'waits for the handler, so a limit of a few failures in a row is soon reached. That holds for senders marked *off*: the',
  'event `endangered` warns before, and the inbox prevents it.',
];

function verdict({ missed, open }: LabGoal): string {
  const misses = missed.length === 0 ? [] : [`**missed** by ${String(missed.length)}`];
  const gap = open === 0 ? [] : [`${String(open)} not simulated`];
  return misses.length + gap.length === 0 ? 'reached' : [...misses, ...gap].join(', ');
}

/** How many runs are missing if only some were made. */
function gaps(report: LabReport): string[] {
  const made = LAB_RUNS.filter(({ name }) => report[name] !== undefined).length;
  if (made === LAB_RUNS.length) return [];
  return [`So far, ${String(made)} of ${String(LAB_RUNS.length)} runs have been made.`, ''];
}

/** Senders with the same runs share a line. */
function linesOf(shape: Shape): LabSender[][] {
  const lines = new Map<string, LabSender[]>();
  for (const sender of LAB_SENDERS) {
    const runs = RECEIVERS.map((receiver) => aloneName(sender, shape, receiver)).join('\n');
    const line = lines.get(runs) ?? [];
    line.push(sender);
    lines.set(runs, line);
  }
  return [...lines.values()];
}

function aloneTable(report: LabReport, shape: Shape): string[] {
  return table(
    ['Sender', ...RECEIVERS.map((receiver) => HEADS[receiver])],
    linesOf(shape).map((senders) => {
      const [first] = senders as [LabSender];
      const names = senders.map(({ name }) => name).join(', ');
      return [
        names,
        ...RECEIVERS.map((receiver) => cell(ofSender(report[aloneName(first, shape, receiver)]))),
      ];
    }),
  );
}

function mixtureTable(report: LabReport, flood: string): string[] {
  const mixtures = MIXTURES.filter((mixture) => mixture.flood === flood && !isTogether(mixture.small));
  return table(
    ['Sender', 'Share', HEADS.held],
    mixtures.map((mixture) => {
      const [[name, share]] = Object.entries(mixture.small) as [[string, number]];
      return [name, `${String(share)}×`, cell(report[mixtureName(mixture, 'held')]?.[name])];
    }),
  );
}

const COMPARED = ['none', 'constant', 'held', 'inbox'] as const;

function togetherTable(report: LabReport): string[] {
  return table(
    ['Beside', ...COMPARED.map((receiver) => HEADS[receiver])],
    MIXTURES.filter(({ small }) => isTogether(small)).map((mixture) => [
      mixture.flood,
      ...COMPARED.map((receiver) => {
        const result = report[mixtureName(mixture, receiver)] ?? {};
        const small = Object.entries(result).filter(([name]) => name in mixture.small);
        return cell(worstOf(small.map(([, one]) => one)));
      }),
    ]),
  );
}
