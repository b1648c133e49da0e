import { columns } from './columns.ts';
import { count } from './format.ts';
import type { EndpointFigures, OutboxSample, TargetKind } from './sender-messages.ts';
import type { SenderResult } from './sender-run.ts';

/** Writes a line a second. */
export function senderProgress(
  write: (line: string) => void,
  now: () => number,
): (sample: OutboxSample) => void {
  let startedAt: number | undefined;
  let lastSecond = -1;
  return ({ sent, endpoints }) => {
    startedAt ??= now();
    const second = Math.floor((now() - startedAt) / 1000);
    if (second <= lastSecond) return;
    lastSecond = second;
    const delivered = endpoints.map((one) => `${one.kind} ${count(one.delivered)}`).join('  ');
    const refused = endpoints.reduce((sum, { limited }) => sum + limited, 0);
    write(`${String(second).padStart(3)} s  stored ${count(sent)}  ${delivered}  refused ${count(refused)}`);
  };
}

type Row = readonly [label: string, value: (of: EndpointFigures, result: SenderResult) => string];

const ROWS: readonly Row[] = [
  ['events', ({ events }) => count(events)],
  ['delivered', ({ delivered }) => count(delivered)],
  ['in the receiver', ({ kind }, { targets }) => count(targets[kind].stored)],
  ['there twice', ({ kind }, { targets }) => count(targets[kind].repeated)],
  ['still in the outbox', ({ events, delivered }) => count(events - delivered)],
  ['requests', ({ attempts }) => count(attempts)],
  ['requests per delivered event', ({ attempts, delivered }) => ratio(attempts, delivered)],
  ['refused with Retry-After', ({ limited }) => count(limited)],
  ['failed otherwise', ({ failed }) => count(failed)],
  ['time until all were delivered', ({ seconds }) => time(seconds === null ? null : seconds * 1000)],
  [
    'delivered per second',
    ({ seconds, delivered }) => (seconds === null ? '–' : count(Math.round(delivered / seconds))),
  ],
  ['send to delivery, p50', ({ latencyMs }) => time(latencyMs.p50)],
  ['send to delivery, p99', ({ latencyMs }) => time(latencyMs.p99)],
  ['state at the end', ({ state }) => state],
];

/** One column for each endpoint, at most 80 columns wide. */
export function senderTable(result: SenderResult): string {
  const { endpoints } = result.outbox;
  return columns([
    ['', ...endpoints.map(({ kind }) => kind)],
    ...ROWS.map(([label, value]) => [label, ...endpoints.map((one) => value(one, result))]),
  ]);
}

const DELIVERED: readonly TargetKind[] = ['fast', 'limited'];

/** The promises that the sender broke; none if all went well. */
export function brokenSenderPromises({ outbox, targets }: SenderResult): string[] {
  const broken: string[] = [];
  let waiting = 0;
  for (const { kind, events, delivered } of outbox.endpoints) {
    waiting += events - delivered;
    if (!DELIVERED.includes(kind)) continue;
    if (targets[kind].stored < events) {
      broken.push(`${count(events - targets[kind].stored)} events did not arrive at the ${kind} endpoint.`);
    }
  }
  if (outbox.stored < waiting)
    broken.push(`${count(waiting - outbox.stored)} events are neither delivered nor stored.`);
  return broken;
}

/** The summary of a run without losses: lines of at most 80 columns. */
export function senderSummary({ outbox, targets }: SenderResult): string {
  const { endpoints } = outbox;
  const working = endpoints.filter(({ kind }) => DELIVERED.includes(kind));
  const events = sumOf(endpoints, (one) => one.events);
  const delivered = sumOf(working, (one) => one.delivered);
  const requests = ratio(
    sumOf(working, (one) => one.attempts),
    delivered,
  );
  const seconds = Math.max(...working.map((one) => one.seconds ?? 0)).toFixed(1);
  const refused = count(sumOf(working, (one) => one.limited));
  const repeated = count(targets.fast.repeated + targets.limited.repeated);
  return [
    `${count(delivered)} of ${count(events)} events were delivered in ${seconds} s, with ${requests} requests for each.`,
    `Refused requests: ${refused}. Events that arrived twice: ${repeated}. Lost events: 0.`,
    `The outbox keeps the other ${count(events - delivered)}, for the receiver that never answers.`,
  ].join('\n');
}

function sumOf(endpoints: readonly EndpointFigures[], value: (of: EndpointFigures) => number): number {
  return endpoints.reduce((sum, one) => sum + value(one), 0);
}

function ratio(part: number, whole: number): string {
  return whole === 0 ? '–' : (part / whole).toFixed(2);
}

function time(ms: number | null): string {
  return ms === null ? '–' : `${(ms / 1000).toFixed(1)} s`;
}
