import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { abortOf } from './abort.ts';
import { endChildren, startChild } from './children.ts';
import type {
  OutboxOrders,
  OutboxReports,
  OutboxResult,
  OutboxSample,
  TargetFigures,
  TargetKind,
  TargetOrders,
  TargetReports,
} from './sender-messages.ts';
import { BULK } from './setup.ts';

/** Of 20 events. The fast endpoint gets what is left. */
const SHARES = { limited: 1.6, hanging: 0.4 };
const KINDS: readonly TargetKind[] = ['fast', 'limited', 'hanging'];

/** The outcome. */
export interface SenderResult {
  readonly outbox: OutboxResult;
  readonly targets: Readonly<Record<TargetKind, TargetFigures>>;
}

/** How many events each endpoint gets. */
export function eventsOf(total: number): Readonly<Record<TargetKind, number>> {
  const limited = Math.max(1, Math.round((total * SHARES.limited) / 20));
  const hanging = Math.max(1, Math.round((total * SHARES.hanging) / 20));
  return { fast: Math.max(1, total - limited - hanging), limited, hanging };
}

/** One import through one sender to three receivers, each a process. */
export async function runSender(
  sizeOf: (warmUpS: number) => number,
  watch: (sample: OutboxSample) => void,
  signal: AbortSignal,
): Promise<SenderResult> {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-backpressure-demo-'));
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  try {
    const aborted = abortOf(signal);
    const receivers = KINDS.map((kind) => ({
      kind,
      child: startChild<TargetOrders, TargetReports>('sender-target.js'),
    }));
    const outbox = startChild<OutboxOrders, OutboxReports>('sender-outbox.js');
    const failed = Promise.race([aborted, outbox.ended, ...receivers.map(({ child }) => child.ended)]);
    failed.catch(() => undefined);

    const starting = receivers.map(async ({ kind, child }) => {
      const { port } = await child.ask('start', { kind, secret }, 'listening');
      return { kind, port };
    });
    const listening = await Promise.race([Promise.all(starting), failed]);
    const target = { kind: 'fast' as const, port: listening[0]?.port ?? 0, events: BULK.warmUpEvents };
    const warmUp = outbox.ask('warmUp', { path: join(folder, 'warm-up.db'), secret, target }, 'warm');
    const events = eventsOf(sizeOf((await Promise.race([warmUp, failed])).seconds));

    outbox.on('sample', watch);
    const targets = listening.map(({ kind, port }) => ({ kind, port, events: events[kind] }));
    const order = { path: join(folder, 'outbox.db'), secret, targets };
    const done = await Promise.race([outbox.ask('import', order, 'done'), failed]);
    const looked = receivers.map(
      async ({ kind, child }) => [kind, await child.ask('look', {}, 'looked')] as const,
    );
    const figures = Object.fromEntries(await Promise.race([Promise.all(looked), failed]));
    return { outbox: done, targets: figures as Record<TargetKind, TargetFigures> };
  } finally {
    await endChildren();
    rmSync(folder, { recursive: true, force: true });
  }
}
