import { hasFlag, textOption } from './command-line.ts';
import { describeMachine } from './machine.ts';
import { measureInbox } from './inbox/measure.ts';
import { describeEngine } from './inbox/queues.ts';
import { describeFileSystem } from './inbox/scratch.ts';
import { passings } from './passing/plan.ts';
import { writePassing } from './passing/report.ts';
import {
  coreComparisons,
  httpComparisons,
  inboxComparisons,
  memoryMeasures,
  quickInboxComparisons,
} from './plan.ts';
import { charts, partialReport, report, table } from './report.ts';
import { figuresOf, judge, measureMemory, type Result } from './results.ts';
import { measureCore, measureHttp, type Effort } from './rounds.ts';
import { textOfBench, write, writeBetween } from './write.ts';

const FULL: Effort = { rounds: 5, coreSeconds: 1, httpSeconds: 0.8, warmUpSeconds: 4, inboxSeconds: 0.8 };
/** Ours and base only, no peers and no memory: enough to see that nothing has gone wrong by half. */
const QUICK: Effort = {
  rounds: 3,
  coreSeconds: 0.15,
  httpSeconds: 0.25,
  warmUpSeconds: 0.7,
  inboxSeconds: 0.3,
};

const isQuick = hasFlag('quick');
const effort = isQuick ? QUICK : FULL;
/** Only what begins with one of these, to look at one thing; without `--write` nothing is written then. */
const only = textOption('only')?.split(',');
const isChosen = ({ name }: { name: string }): boolean =>
  only === undefined || only.some((prefix) => name.startsWith(prefix));

const machine = describeMachine();
const results: Result[] = [];
for (const comparison of coreComparisons.filter(isChosen)) {
  results.push(judge(comparison, await measureCore(comparison, effort), false));
}
for (const comparison of httpComparisons.filter(isChosen)) {
  results.push(judge(comparison, await measureHttp(comparison, effort, !isQuick), !isQuick));
}
for (const comparison of (isQuick ? quickInboxComparisons : inboxComparisons).filter(isChosen)) {
  results.push(judge(comparison, await measureInbox(comparison, effort, !isQuick), !isQuick));
}
if (!isQuick) results.push(...(await measureMemory(memoryMeasures.filter(isChosen), effort.rounds)));

if (!isQuick && only === undefined) {
  await write('results.json', `${JSON.stringify(figuresOf(results), null, 2)}\n`);
  const front = results.find(({ name }) => name === 'front/refuse');
  await writeBetween('../docs/frameworks.md', 'front', `${front?.ratio.toFixed(1) ?? '?'} times`);
  await write(
    'report.md',
    report(results, {
      machine,
      rounds: effort.rounds,
      storage: `${describeEngine()}, on ${describeFileSystem()}`,
    }),
  );
  for (const [file, chart] of charts(results)) await write(`charts/${file}`, chart);
  await writePassing();
}
if (!isQuick && only !== undefined && hasFlag('write')) {
  const before = JSON.parse(textOfBench('results.json')) as Record<string, object>;
  const all: Record<string, object> = { ...before, ...figuresOf(results) };
  const names = [...coreComparisons, ...httpComparisons, ...inboxComparisons, ...memoryMeasures, ...passings];
  const inOrder = names.flatMap(({ name }) => (name in all ? [[name, all[name]]] : []));
  await write('results.json', JSON.stringify(Object.fromEntries(inOrder)));
  await writeBetween('report.md', 'alone', partialReport(results, machine));
}
process.stdout.write(
  hasFlag('json') ? `${JSON.stringify(figuresOf(results), null, 2)}\n` : `${table(results)}\n`,
);
