import type { Heaped } from '@webhook-backpressure/base';
import type { EndpointSettings } from '../options/settings.ts';

/** The knowledge about one endpoint. */
export class Entry implements Heaped {
  readonly id: string;
  /** The last valid ones; null: there is no such endpoint; undefined: not known. */
  settings: EndpointSettings | null | undefined = undefined;
  /** When the last valid ones arrived; undefined: never. */
  answeredAtMs: number | undefined = undefined;
  /** Whether it has events. */
  isWanted = false;
  /** Whether the settings must not be used before the function was asked. */
  isBlocked = true;
  /** Whether a call runs. */
  isAsking = false;
  /** Whether it waits for a place among the concurrent calls. */
  isQueued = false;
  /** Whether the call that runs began before a refresh. */
  isOutdated = false;
  /** Calls that failed since the last one that did not. */
  failures = 0;
  /** Not asked before. */
  askAtMs = 0;
  /** -1 outside the heap of retries. */
  heapIndex = -1;

  constructor(id: string) {
    this.id = id;
  }
}
