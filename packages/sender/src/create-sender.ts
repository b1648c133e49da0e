import { DurableSender } from './durable-sender.ts';
import type { SenderOptions } from './options/sender-options.ts';
import type { Sender } from './sender.ts';

/**
 * Creates a sender, which stores events and delivers them to their endpoints. Timers and the open store do not keep the
 * process alive: call `close` before it ends. Calls of `send` that wait for room, and requests in flight, do.
 *
 * @throws BackpressureError for an invalid option, and what the store throws synchronously when it is opened.
 */
export function createSender(options: SenderOptions): Sender {
  return new DurableSender(options);
}
