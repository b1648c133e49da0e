import { count } from './format.ts';
import type { ReceiverSample, SenderSample } from './messages.ts';

/** One moment of a run. */
export interface Moment {
  readonly title: string;
  readonly seconds: number;
  readonly receiver: ReceiverSample;
  readonly sender: SenderSample;
  readonly deliveredPerSecond: number;
}

/** The depth of a full bar when there is no bound. */
const UNBOUND_SCALE = 1000;
const BAR_CELLS = 40;

/** Up to 80 columns. */
export function queueLine({ title, seconds, receiver: { depth, bound } }: Moment): string {
  const head = `${title.padEnd(8)}${seconds.toFixed(1).padStart(5)} s  ${bar(depth, bound)} ${count(depth)}`;
  return `${head} ${bound === null ? 'queued, no bound' : `of ${count(bound.capacity)} queued`}`;
}

export function countsLine({ receiver, sender, deliveredPerSecond }: Moment): string {
  return (
    `  delivered ${count(sender.delivered)} (${count(deliveredPerSecond)}/s)` +
    `  refused ${count(receiver.refused)}  errors ${count(receiver.failed)}  lost ${count(sender.lost)}`
  );
}

/** Up to 80 columns, for output that is not a terminal. */
export function plainLine(moment: Moment): string {
  const time = String(Math.floor(moment.seconds)).padStart(3);
  return `${moment.title.padEnd(8)}${time} s  queued ${count(moment.receiver.depth)}${countsLine(moment)}`;
}

/** The depth as a bar, with the two marks. */
export function bar(depth: number, bound: ReceiverSample['bound']): string {
  const scale = bound?.capacity ?? UNBOUND_SCALE;
  const cell = (deliveries: number): number =>
    Math.min(BAR_CELLS, Math.ceil((deliveries / scale) * BAR_CELLS));
  const marks = bound === null ? [] : [cell(bound.lowWater), cell(bound.highWater)];
  const filled = cell(depth);
  const cells = Array.from({ length: BAR_CELLS }, (_, index) => {
    if (marks.includes(index)) return '|';
    return index < filled ? '█' : '·';
  });
  return `[${cells.join('')}${depth > scale ? '»' : ']'}`;
}
