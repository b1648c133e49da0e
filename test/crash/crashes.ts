import { setTimeout } from 'node:timers/promises';
import { chanceOf } from './chance.ts';
import type { HistoryEvent } from '@webhook-backpressure/core/testing';
import { historyOf, readLog } from './handler-log.ts';
import { Receiver, type ReceiverSettings } from './receiver.ts';
import { Sender } from './sender.ts';
import { readFile, rememberedOf, type StoredInFile } from './sqlite-audit.ts';

export interface Plan {
  readonly file: string;
  readonly log: string;
  readonly kills: number;
  readonly seed: number;
}

export interface Outcome {
  readonly sender: Sender;
  readonly history: readonly HistoryEvent[];
  readonly stored: StoredInFile;
}

const SETTINGS: ReceiverSettings = { concurrency: 10, attempts: 20, maxHandlingMs: 60_000 };

const CONNECTIONS = 16;
const MAX_HANDLING_MS = 8;
/** A life ends after at most this many acknowledgements and then this many milliseconds. */
const MAX_ACKNOWLEDGED = 300;
const MAX_LATER_MS = 10;

/** Sends without a pause, kills the receiver at random moments, and lets the last life drain the inbox. */
export async function crash({ file, log, kills, seed }: Plan): Promise<Outcome> {
  const chance = chanceOf(seed);
  const sender = new Sender();
  const unanswered = new Map<string, number>();
  let next = 0;

  /** Sends deliveries on one connection until the receiver dies. */
  const keepSending = async (receiver: Receiver): Promise<void> => {
    while (receiver.isAlive) {
      const [again] = unanswered;
      const [id, tookMs] = again ?? [`evt-${String(next++)}`, Math.floor(chance() * MAX_HANDLING_MS)];
      unanswered.delete(id);
      if (!(await sender.send(receiver.port, id, { tookMs }))) unanswered.set(id, tookMs);
    }
  };

  for (let killed = 0; killed < kills; killed += 1) {
    const receiver = new Receiver({ role: 'both', store: { path: file }, log, life: killed, ...SETTINGS });
    // Sometimes during the start itself.
    if (chance() < 0.1) await setTimeout(chance() * 200);
    else if (await receiver.start()) {
      const until = sender.acknowledged.size + Math.floor(chance() * MAX_ACKNOWLEDGED);
      const enough = new Promise<void>((resolve) => {
        sender.onAcknowledged = () => {
          if (sender.acknowledged.size >= until) resolve();
        };
      });
      const sending = Array.from({ length: CONNECTIONS }, () => keepSending(receiver));
      await Promise.race([enough, receiver.died]);
      await setTimeout(chance() * MAX_LATER_MS);
      await receiver.kill();
      await Promise.all(sending);
      sender.hangUp();
    }
    await receiver.kill();
  }

  const last = new Receiver({ role: 'both', store: { path: file }, log, life: kills, ...SETTINGS });
  await last.start();
  for (const [id, tookMs] of unanswered) await sender.send(last.port, id, { tookMs });
  if (!(await last.drain())) throw new Error('The last life ended by itself.');
  await last.kill();
  sender.hangUp();
  const stored = readFile(file);
  const { concurrency } = SETTINGS;
  const around = { ...stored, acknowledged: sender.refs, hashOf: rememberedOf, concurrency };
  return { sender, history: historyOf(readLog(log), around), stored };
}
