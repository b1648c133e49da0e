import {
  type EventSource,
  logEvents,
  type LogEventsOptions,
  type LogFields,
  type LogLevel,
  type OutboxEvent,
} from '@webhook-backpressure/observe';
import type { InboxEvent } from '@webhook-backpressure/inbox';
import type { IntakeEvent } from '@webhook-backpressure/core';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';

/** A line as the logger got it. */
export interface Line {
  readonly level: LogLevel;
  readonly fields: LogFields;
  readonly message: string;
}

type Method = (first: LogFields | string, second: LogFields | string) => void;

/** A logger that keeps its lines. */
export function recordingLogger(): { lines: Line[]; logger: Record<LogLevel, Method> } {
  const lines: Line[] = [];
  const method =
    (level: LogLevel): Method =>
    (first, second) => {
      const [fields, message] = typeof first === 'string' ? [second, first] : [first, second];
      if (typeof fields === 'string' || typeof message !== 'string') throw new Error('two of one kind');
      lines.push({ level, fields, message });
    };
  return { lines, logger: { info: method('info'), warn: method('warn'), error: method('error') } };
}

type Reported = { readonly type: (IntakeEvent | InboxEvent | OutboxEvent)['type'] } & Readonly<
  Record<string, unknown>
>;

/** A source that reports what the test says, and its log. */
export interface LoggedSource {
  readonly lines: readonly Line[];
  readonly clock: ManualClock;
  readonly report: (event: Reported) => void;
  readonly end: () => void;
}

export function loggedSource(
  kind: 'intake' | 'inbox' | 'sender',
  options: LogEventsOptions = {},
  dryRun = false,
): LoggedSource {
  const clock = manualClock();
  const { lines, logger } = recordingLogger();
  let listener: (event: Reported) => void = () => undefined;
  const source = {
    dryRun,
    ...{ intake: { admit: () => undefined }, inbox: { receive: () => undefined }, sender: { endpoints: {} } }[
      kind
    ],
    subscribe(given: typeof listener) {
      listener = given;
      return () => {
        listener = () => undefined;
      };
    },
  } as unknown as EventSource;
  const end = logEvents(source, logger, { clock, ...options });
  return {
    lines,
    clock,
    end,
    report: (event) => {
      listener({ ...event, at: clock.now() });
    },
  };
}
