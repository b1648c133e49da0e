import { count } from './format.ts';
import type { ReceiverSample, SenderSample } from './messages.ts';

/** What is shown of a run at one moment. */
export interface Moment {
  readonly title: string;
  readonly seconds: number;
  readonly receiver: ReceiverSample;
  readonly sender: SenderSample;
  readonly deliveredPerSecond: number;
}

/** The queue that a full bar stands for when there is no bound. */
const UNBOUND_SCALE = 1000;
const BAR_CELLS = 40;

export function queueLine({ title, seconds, receiver: { depth, bound } }: Moment): string {
  const head = `${title.padEnd(8)}${seconds.toFixed(1).padStart(5)} s  ${bar(depth, bound)} ${count(depth)}`;
  if (bound === null) return `${head} waiting, no bound`;
  return `${head} of ${count(bound.capacity)} waiting, marks ${count(bound.lowWater)} and ${count(bound.highWater)}`;
}

export function countsLine({ receiver, sender, deliveredPerSecond }: Moment): string {
  return (
    `  accepted ${count(receiver.accepted)}  refused ${count(receiver.refused)}  failed ${count(receiver.failed)}` +
    `  delivered ${count(sender.delivered)} (${count(deliveredPerSecond)}/s)  lost ${count(sender.lost)}`
  );
}

export function plainLine(moment: Moment): string {
  const { title, seconds, receiver } = moment;
  const marks =
    receiver.bound === null
      ? ''
      : ` (marks ${count(receiver.bound.lowWater)} and ${count(receiver.bound.highWater)})`;
  const time = String(Math.floor(seconds)).padStart(3);
  return `${title.padEnd(8)}${time} s  waiting ${count(receiver.depth)}${marks}${countsLine(moment)}`;
}

/** The depth as a bar, with the two marks in it. */
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
