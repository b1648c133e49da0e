import { count } from './format.ts';
import type { RunResult } from './run.ts';

/** The promises that the middleware broke in this run; none if all went well. */
export function brokenPromises({ sender, receiver }: RunResult): string[] {
  const broken: string[] = [];
  if (sender.lost > 0) broken.push(`${count(sender.lost)} deliveries were lost.`);
  if (receiver.stored < sender.delivered) {
    broken.push(
      `${count(sender.delivered - receiver.stored)} deliveries got a 2xx and are not in the database.`,
    );
  }
  if (receiver.capacity !== null && receiver.deepest > receiver.capacity) {
    broken.push(
      `${count(receiver.deepest)} deliveries were queued; the bound is ${count(receiver.capacity)}.`,
    );
  }
  return broken;
}
