import type { LogLevel } from './event-logger.ts';
import type { SourceKind } from './event-source.ts';

/** The members of a union of events that have this type. */
export type EventOf<T, E> = E extends { type: infer U } ? (T extends U ? E : never) : never;
type FieldOf<E> = E extends unknown ? Exclude<keyof E, 'type' | 'at'> : never;

/** How an event becomes a line. */
export interface Line<E> {
  readonly level: LogLevel;
  /** The fields of the event that the line has. Never an id, a body, or the message of an error, which may be private. */
  readonly fields: readonly FieldOf<E>[];
  /** It must not contain what a request has determined, such as a key: a console would show it as it is. */
  message(event: E, kind: SourceKind): string;
  /** Distinguishes events of this type whose lines must not replace each other. */
  variant?(event: E): string;
}
