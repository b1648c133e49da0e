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

/** Shows one run while it goes on. */
export interface Progress {
  show(title: string, receiver: ReceiverSample, sender: SenderSample): void;
}

/** Redraws in place on a terminal; elsewhere writes a line a second. */
export function createProgress(out: NodeJS.WriteStream, now: () => number): Progress {
  let startedAt: number | undefined;
  let plainSecond = -1;
  let drawn = 0;
  let history: { at: number; delivered: number }[] = [];

  return {
    show(title, receiver, sender) {
      const at = now();
      startedAt ??= at;
      const seconds = (at - startedAt) / 1000;
      history = [...history.filter((past) => past.at >= at - 1000), { at, delivered: sender.delivered }];
      const moment = { title, seconds, receiver, sender, deliveredPerSecond: perSecond(history) };

      if (out.isTTY) {
        const lines = [queueLine(moment), countsLine(moment)].map((line) => line.slice(0, columns(out)));
        out.write(
          `${drawn > 0 ? `\x1b[${String(drawn)}A` : ''}${lines.map((line) => `\x1b[2K${line}\n`).join('')}`,
        );
        drawn = lines.length;
      } else if (Math.floor(seconds) > plainSecond) {
        plainSecond = Math.floor(seconds);
        out.write(`${plainLine(moment)}\n`);
      }
    },
  };
}

/** A line that wraps could not be drawn over. */
function columns(out: NodeJS.WriteStream): number {
  return Math.max(1, out.columns - 1);
}

function perSecond(history: readonly { at: number; delivered: number }[]): number {
  const [first] = history;
  const last = history.at(-1);
  if (first === undefined || last === undefined || last.at === first.at) return 0;
  return Math.round(((last.delivered - first.delivered) / (last.at - first.at)) * 1000);
}

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
  const time = seconds.toFixed(0).padStart(3);
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

export function count(value: number): string {
  return value.toLocaleString('en-US');
}
