import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

interface Usage {
  readonly parent: number;
  /** Clock ticks, in user and in kernel mode; also of children that have ended and were waited for. */
  readonly ticks: number;
}

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Seconds of processor time of all processes that a process has started, and of those that they have started. Linux. */
export function secondsOfDescendants(ancestor: number): number {
  const usages = new Map<number, Usage>();
  for (const name of readdirSync('/proc')) {
    const usage = /^\d+$/.test(name) ? usageOf(name) : undefined;
    if (usage !== undefined) usages.set(Number(name), usage);
  }
  const isDescendant = (pid: number): boolean => {
    const parent = usages.get(pid)?.parent;
    return parent !== undefined && (parent === ancestor || isDescendant(parent));
  };
  const all = [...usages].filter(([pid]) => isDescendant(pid));
  return all.reduce((sum, [, { ticks }]) => sum + ticks, 0) / TICKS_PER_SECOND;
}

function usageOf(pid: string): Usage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold anything.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent = 0] = fields.slice(1);
    // utime, stime, cutime, cstime
    return { parent, ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) };
  } catch {
    // It has ended.
    return undefined;
  }
}
