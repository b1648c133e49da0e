import { abortOf } from './abort.ts';
import { endChildren, startChild } from './children.ts';
import type { WatchedReceiverOrders, WatchedReceiverReports, WaveOrders } from './messages.ts';

/**
 * Serves the live page of a receiver under waves of load, until `signal` is aborted.
 *
 * @param port - where the page listens; 0: the system chooses.
 * @param onListening - gets the address of the page.
 */
export async function watch(
  port: number,
  onListening: (url: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const aborted = abortOf(signal);
  try {
    const receiver = startChild<WatchedReceiverOrders, WatchedReceiverReports>('watched-receiver.js');
    const refused = new Promise<never>((_, reject) => {
      receiver.on('failed', ({ message }) => {
        reject(new Error(message));
      });
    });
    const started = receiver.ask('start', { port }, 'listening');
    const listening = await Promise.race([started, refused, aborted]);
    const origin = `http://127.0.0.1:${String(listening.port)}`;
    onListening(`${origin}/`);
    const sender = startChild<WaveOrders, object>('wave-sender.js');
    sender.send('send', { origin });
    await Promise.race([receiver.ended, sender.ended, aborted]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await endChildren();
  }
}
