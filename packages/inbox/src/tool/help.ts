import type { ToolTarget } from './target.ts';

type Lines = readonly (readonly [name: string, does: string])[];

const COMMANDS: Lines = [
  ['status', 'totals, and the processes that have the inbox open'],
  ['pending', 'stored, unfinished deliveries in the order of arrival'],
  ['dead', 'dead letters, oldest first'],
  ['completed', 'completed deliveries that are kept (keepCompletedMs), in the order of completion'],
  ['show ID', 'one delivery with its headers and body'],
  ['find ID', 'the state of the deliveries with this id; with --key also whether the id is remembered'],
  [
    'redrive ID|all',
    'moves dead letters back into the queue, with all attempts ahead. A running worker\nprocesses them within seconds. "all" stops at the low-water mark and waits for room',
  ],
  ['replay ID|all', 'does the same with completed deliveries'],
  ['purge ID|all', 'deletes dead letters. If the sender retries one, it is accepted again'],
  [
    'pause',
    'makes the workers of all processes start no more deliveries; new deliveries are still\nstored. With --key, pauses one key',
  ],
  ['resume', 'ends a pause. Without --key, paused keys stay paused'],
  ['forget ID', 'forgets a completed id, so that it is accepted again; needs --key'],
];

const OPTIONS: Lines = [
  ['--key KEY', 'only this key; ids are unique within a key'],
  ['--state STATE', 'for pending: ready, delayed or active'],
  ['--limit N', 'for pending, dead, completed: at most N lines, default 100'],
  ['--after N', 'for pending, completed: continues a list'],
  ['--no-wait', 'for redrive, replay: exits when there is no room for more'],
  ['--json', 'prints JSON'],
  ['--help', 'prints this text'],
];

export function helpOf({ program, noun, argument, help, commands = {} }: ToolTarget): string {
  const more = Object.entries(commands).map(([name, { does }]): readonly [string, string] => [name, does]);
  return `Shows, redrives, replays and deletes deliveries in ${noun} of an inbox. Receivers and workers can keep running.

Usage: ${program} COMMAND [ID] ${argument} [options]

Commands
${listOf([...COMMANDS, ...more])}

Options
${listOf([...help, ...OPTIONS])}

Exit code: 0 done, 1 failed or partly done, 2 wrong usage.`;
}

function listOf(lines: Lines): string {
  const width = Math.max(...lines.map(([name]) => name.length)) + 2;
  return lines
    .map(([name, does]) => `  ${name.padEnd(width)}${does.replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`)
    .join('\n');
}
