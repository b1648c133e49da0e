import { percentile, type RequestedSender, type Traffic } from '@webhook-backpressure/planner/parts';
import type { Prediction } from '../run/scenario.ts';
import type { Volley } from '../run/volley.ts';

/** The figures of some deliveries, as their sender sees them. */
export interface Figures {
  /** Deliveries whose first attempt was due before the end. */
  readonly events: number;
  /** Acknowledged. */
  readonly delivered: number;
  /** Given up, or not sent because the sender had disabled the endpoint. */
  readonly lost: number;
  /** Neither when the run ended. */
  readonly open: number;
  /** Sent more than once. */
  readonly repeated: number;
  /** Requests. */
  readonly attempts: number;
  /**
   * From the start of the first attempt to the acknowledgement, in milliseconds: waits as long as the sender says, requests
   * as they took. Null without any.
   */
  readonly ackMs: { readonly p50: number | null; readonly p99: number | null };
}

/** The figures of one sender. */
export interface SenderFigures extends Figures {
  /** The name of its profile, such as `stripe`. */
  readonly name: string;
  /** Whether it has disabled the endpoint. */
  readonly disabled: boolean;
  /** Deliveries lost because the endpoint was disabled when they were due. */
  readonly notSent: number;
  /** What the sender has concluded. A sentence. */
  readonly conclusion: string;
  /** How its requests are signed; null if with the secret. */
  readonly signature: string | null;
}

/** What a run has found. `--json` prints it. */
export interface Report extends Figures {
  /** Where the requests went. */
  readonly url: string;
  /** By which the waits of the senders were divided. */
  readonly speed: number;
  /** How long the run took. */
  readonly seconds: number;
  /** How late an attempt started because this machine was busy, at most, in milliseconds. */
  readonly maxLateMs: number;
  /** By status, or by kind of failure. */
  readonly answers: Readonly<Record<string, number>>;
  /** By kind of failure: the message of the first one. */
  readonly failures: Readonly<Record<string, string>>;
  /** The same by sender, in the order of `--as`. */
  readonly senders: readonly SenderFigures[];
  /** Of the planner; null without `--service`. */
  readonly predicted: readonly Prediction[] | null;
  /** The limits that were exceeded. Sentences. */
  readonly exceeded: readonly string[];
}

class Group {
  #events = 0;
  #delivered = 0;
  #lost = 0;
  #repeated = 0;
  #attempts = 0;
  readonly #ackMs: number[] = [];

  add(fate: 'delivered' | 'lost' | undefined, attempts: number, ackMs: number): void {
    this.#events += 1;
    this.#attempts += attempts;
    if (attempts > 1) this.#repeated += 1;
    if (fate === 'delivered') this.#delivered += 1;
    if (fate === 'lost') this.#lost += 1;
    if (!Number.isNaN(ackMs)) this.#ackMs.push(ackMs);
  }

  figures(): Figures {
    const sorted = Float64Array.from(this.#ackMs).sort();
    const at = (part: number): number | null =>
      sorted.length === 0 ? null : Math.round(percentile(sorted, part) * 10) / 10;
    return {
      events: this.#events,
      delivered: this.#delivered,
      lost: this.#lost,
      open: this.#events - this.#delivered - this.#lost,
      repeated: this.#repeated,
      attempts: this.#attempts,
      ackMs: { p50: at(0.5), p99: at(0.99) },
    };
  }
}

/** The figures of a volley that has just ended. */
export function figuresOf(
  volley: Volley,
  traffic: Traffic,
  senders: readonly RequestedSender[],
  signatures: readonly (string | undefined)[],
): Figures & Pick<Report, 'senders' | 'maxLateMs' | 'answers' | 'failures'> {
  const { fates, ackMs, nowMs } = volley;
  const { seen } = volley.senders;
  const all = new Group();
  const groups = senders.map(() => new Group());
  for (let i = 0; i < traffic.count; i += 1) {
    const attempts = seen.attempts[i] as number;
    const fate = fates[i];
    if ((traffic.firstMs[i] as number) > nowMs) continue;
    all.add(fate, attempts, ackMs[i] as number);
    groups[traffic.sender[i] as number]?.add(fate, attempts, ackMs[i] as number);
  }
  return {
    ...all.figures(),
    maxLateMs: Math.round(volley.maxLateMs),
    answers: Object.fromEntries([...volley.answers].sort()),
    failures: Object.fromEntries(volley.failures),
    senders: senders.map(({ name, profile }, index) => {
      const figures = (groups[index] as Group).figures();
      const { switchedOff = 0, missed = 0 } = seen.endpoints[index] ?? {};
      const disabled = switchedOff > 0;
      return {
        name,
        ...figures,
        disabled,
        notSent: missed,
        conclusion: conclusionOf(figures, disabled, missed, profile.retries === 'none'),
        signature: signatures[index] ?? null,
      };
    }),
  };
}

function conclusionOf(
  { events, delivered, lost, open }: Figures,
  disabled: boolean,
  notSent: number,
  neverRetries: boolean,
): string {
  if (events === 0) return 'Nothing was due.';
  const off = disabled
    ? `It has disabled the endpoint${notSent > 0 ? ` and did not send ${String(notSent)} that were due` : ''}. `
    : '';
  const more = open > 0 ? ` It would go on with ${String(open)}.` : '';
  if (delivered === events) return `${off}All were acknowledged.`;
  const givenUp = lost - notSent;
  if (givenUp === 0) return `${off}It has given up none.${more}`;
  const why = neverRetries ? 'after one attempt, since it never retries' : 'after its last attempt';
  return `${off}It has given up ${String(givenUp)} ${why}.${more}`;
}

/** What `--max-lost` and `--max-p99` demand. */
export interface Limits {
  readonly maxLost: number | undefined;
  readonly maxP99Ms: number | undefined;
}

/** A limit and whether the figures keep it. */
export interface Check {
  readonly name: string;
  /** A sentence; undefined if the limit was kept. */
  readonly exceeded: string | undefined;
}

/** Deliveries that are open at the end count as lost: a run that was too short must not pass. */
export function checksOf({ lost, open, ackMs }: Figures, { maxLost, maxP99Ms }: Limits): Check[] {
  const checks: Check[] = [];
  if (maxLost !== undefined) {
    const isOver = lost + open > maxLost;
    const sentence = `${String(lost)} deliveries were lost and ${String(open)} open, but --max-lost is ${String(maxLost)}.`;
    checks.push({ name: `--max-lost ${String(maxLost)}`, exceeded: isOver ? sentence : undefined });
  }
  if (maxP99Ms !== undefined) {
    const isOver = ackMs.p99 === null || ackMs.p99 > maxP99Ms;
    const found = ackMs.p99 === null ? 'Nothing was acknowledged' : `The p99 was ${String(ackMs.p99)} ms`;
    const sentence = `${found}, but --max-p99 is ${String(maxP99Ms)} ms.`;
    checks.push({ name: `--max-p99 ${String(maxP99Ms)} ms`, exceeded: isOver ? sentence : undefined });
  }
  return checks;
}
