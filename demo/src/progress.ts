import { countsLine, plainLine, queueLine } from './drawing.ts';
import type { ReceiverSample, SenderSample } from './messages.ts';

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

/** A line that wraps could not be drawn over. Some terminals claim to have no columns at all. */
function columns(out: NodeJS.WriteStream): number {
  return out.columns > 1 ? out.columns - 1 : 79;
}

function perSecond(history: readonly { at: number; delivered: number }[]): number {
  const [first] = history;
  const last = history.at(-1);
  if (first === undefined || last === undefined || last.at === first.at) return 0;
  return Math.round(((last.delivered - first.delivered) / (last.at - first.at)) * 1000);
}
