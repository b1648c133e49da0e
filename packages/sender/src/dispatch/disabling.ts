import type { DisableReason } from '@webhook-backpressure/observe';
import type { InboxStore } from '@webhook-backpressure/inbox';
import type { StoreHealth } from '@webhook-backpressure/inbox/store';
import { DISABLED_PREFIX } from '../options/endpoint-id.ts';
import type { SenderReport } from '../watch/sender-report.ts';

/**
 * A pause of this name, followed by the reason and the id, marks a disabled endpoint for all processes and after restarts.
 * No event has it as its key, because a sender has no endpoint of such an id: the store only remembers it.
 */
const PREFIX = DISABLED_PREFIX;
/** The most markers: the store lists all of them with its counts. Further endpoints are disabled in this process only. */
const MOST_MARKERS = 10_000;

/** After so many endpoints that do not exist, they are reported again. */
const MOST_UNKNOWN = 10_000;

const REASONS: readonly DisableReason[] = ['gone', 'failing'];

export interface DisablingParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly report: SenderReport;
  readonly now: () => number;
  /** Called when an endpoint was disabled or enabled, by any process. */
  readonly changed: (id: string) => void;
}

/** The disabled endpoints. Their events become dead letters until an operator resumes them. */
export class Disabling {
  readonly #parts: DisablingParts;
  #reasons = new Map<string, DisableReason>();
  /** Endpoints that do not exist, so that this is reported once of each. */
  readonly #unknown = new Set<string>();
  /** Changes by this process that the counts of the store may lack. */
  readonly #recent = new Map<string, DisableReason | undefined>();

  constructor(parts: DisablingParts) {
    this.#parts = parts;
  }

  get ids(): Iterable<string> {
    return this.#reasons.keys();
  }

  reasonOf(id: string): DisableReason | undefined {
    return this.#reasons.size === 0 ? undefined : this.#reasons.get(id);
  }

  /** Why the events of an endpoint become dead letters, also because there is no such endpoint. */
  shownReasonOf(id: string): DisableReason | undefined {
    return this.reasonOf(id) ?? (this.#unknown.has(id) ? 'unknown' : undefined);
  }

  /** The function `endpoint` returned settings, or null. Each change is reported once. */
  noteUnknown(id: string, isUnknown: boolean): void {
    const { report, now } = this.#parts;
    if (!isUnknown) {
      if (this.#unknown.size > 0 && this.#unknown.delete(id)) report.emit({ type: 'enabled', endpoint: id });
      return;
    }
    if (this.#unknown.has(id)) return;
    if (this.#unknown.size >= MOST_UNKNOWN) this.#unknown.clear();
    this.#unknown.add(id);
    report.totals.disabled += 1;
    report.monitor?.lost('disabled', 1, now());
    report.emit({ type: 'disabled', endpoint: id, reason: 'unknown' });
  }

  /** Disables an endpoint: in this process immediately, in others within seconds. */
  disable(id: string, reason: 'gone' | 'failing'): void {
    if (this.#reasons.has(id)) return;
    const { report, changed } = this.#parts;
    this.#reasons.set(id, reason);
    this.#recent.set(id, reason);
    report.totals.disabled += 1;
    report.monitor?.lost('disabled', 1, this.#parts.now());
    report.emit({ type: 'disabled', endpoint: id, reason });
    void this.#mark(id, reason);
    changed(id);
  }

  /** Ends it. Returns whether the endpoint was disabled. Rejects with what the store throws. */
  async enable(id: string): Promise<boolean> {
    const { store, report, changed } = this.#parts;
    if (!this.#reasons.has(id)) return false;
    // Another process may have noted another reason.
    for (const reason of REASONS) await store.resume(markerOf(id, reason));
    this.#reasons.delete(id);
    this.#recent.set(id, undefined);
    report.emit({ type: 'enabled', endpoint: id });
    changed(id);
    return true;
  }

  /** Adopts the pauses that the store has listed. Returns those of endpoints that are only paused. */
  learn(pausedKeys: readonly string[]): ReadonlySet<string> {
    const paused = new Set<string>();
    const found = new Map<string, DisableReason>();
    for (const key of pausedKeys) {
      const marked = markedOf(key);
      if (marked === undefined) paused.add(key);
      else found.set(marked.id, marked.reason);
    }
    // The counts may have been read before a change of this process.
    for (const [id, reason] of this.#recent) {
      if (found.get(id) === reason) this.#recent.delete(id);
      else if (reason === undefined) found.delete(id);
      else found.set(id, reason);
    }
    const before = this.#reasons;
    this.#reasons = found;
    for (const id of before.keys()) if (!found.has(id)) this.#parts.changed(id);
    for (const id of found.keys()) if (!before.has(id)) this.#parts.changed(id);
    return paused;
  }

  async #mark(id: string, reason: DisableReason): Promise<void> {
    const { store, health } = this.#parts;
    if (this.#reasons.size > MOST_MARKERS) return;
    try {
      await health.rest();
      // An operator may have resumed it during the rest.
      if (this.#reasons.get(id) !== reason) return;
      await store.pause(markerOf(id, reason));
    } catch (error) {
      // It stays disabled in this process. After a restart, its next failure disables it again.
      health.failed('pause', error);
    }
  }
}

function markerOf(id: string, reason: DisableReason): string {
  return `${PREFIX}${reason}:${id}`;
}

function markedOf(key: string): { readonly id: string; readonly reason: DisableReason } | undefined {
  if (!key.startsWith(PREFIX)) return undefined;
  const end = key.indexOf(':', PREFIX.length);
  const reason = key.slice(PREFIX.length, end);
  return (REASONS as readonly string[]).includes(reason)
    ? { id: key.slice(end + 1), reason: reason as DisableReason }
    : undefined;
}
