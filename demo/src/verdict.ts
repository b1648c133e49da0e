import { count } from './format.ts';
import type { RunResult } from './run.ts';

/** What the middleware promised and did not keep in this run: nothing, if all is well. */
export function brokenPromises({ sender, receiver }: RunResult): string[] {
  const broken: string[] = [];
  if (sender.lost > 0) broken.push(`${count(sender.lost)} deliveries were lost.`);
  if (receiver.stored < sender.delivered) {
    broken.push(
      `${count(sender.delivered - receiver.stored)} were answered as delivered and are not stored.`,
    );
  }
  if (receiver.capacity !== null && receiver.deepest > receiver.capacity) {
    broken.push(`${count(receiver.deepest)} waited at once; the bound is ${count(receiver.capacity)}.`);
  }
  return broken;
}
