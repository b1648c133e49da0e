import type { LogLevel } from './event-logger.ts';
import type { SourceKind } from './event-source.ts';
import { ENDS, LINES } from './lines.ts';
import { SENDER_ENDS, SENDER_LINES } from './sender-lines.ts';
import { SENDER_SUMS } from './sender-sums.ts';
import { SUMS, type SumRule } from './sums.ts';

/** The rule for events of one type, whichever that is. */
export interface AnyLine {
  readonly level: LogLevel;
  readonly fields: readonly string[];
  message(event: never, kind: SourceKind): string;
  variant?(event: never): string;
}

/** How the events of a source become lines. */
export interface LogRules {
  /** By the type of the event. */
  readonly lines: ReadonlyMap<string, AnyLine>;
  readonly sums: ReadonlyMap<string, SumRule>;
  /** The subject of an event. The last line about a subject must say how it is now. */
  readonly subjectOf: (type: string) => string;
}

export function rulesOf(kind: SourceKind): LogRules {
  return kind === 'sender' ? rulesIn(SENDER_LINES, SENDER_SUMS, SENDER_ENDS) : rulesIn(LINES, SUMS, ENDS);
}

function rulesIn(
  lines: Readonly<Record<string, AnyLine>>,
  sums: Readonly<Record<string, SumRule>>,
  ends: Readonly<Record<string, string>>,
): LogRules {
  const begins = new Map(Object.entries(ends));
  return {
    lines: new Map(Object.entries(lines)),
    sums: new Map(Object.entries(sums)),
    subjectOf: (type) => begins.get(type) ?? type,
  };
}
