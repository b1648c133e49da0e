import { BackpressureError, inBackground } from '@webhook-backpressure/base';
import type { DisableReason } from '@webhook-backpressure/observe';
import { DISABLED_PREFIX } from '../options/endpoint-settings.ts';
import type { SenderContext } from '../outbox/sender-context.ts';

/** The most paused endpoints: the store lists all of them with its counts. */
const MAX_PAUSED = 1000;
/** The most markers of disabled endpoints. Further ones are disabled in this process only. */
const MAX_MARKERS = 10_000;
/** After so many endpoints that do not exist, they are reported again. */
const MAX_UNKNOWN = 10_000;

const REASONS = ['gone', 'failing'] as const;

/**
 * The endpoints that are paused by operators, and the disabled ones, whose events become dead letters until an operator
 * resumes them. The store keeps both, for all processes and after restarts.
 *
 * A pause of a name that begins with {@link DISABLED_PREFIX}, followed by the reason and the id, marks a disabled endpoint.
 * No event has it as its key, because a sender has no endpoint of such an id: the store only remembers it.
 */
export class Stops {
  /** Whether everything is paused. */
  isAll = false;
  readonly #context: SenderContext;
  readonly #changed: (id: string | null) => void;
  readonly #paused = new Marks<true>();
  readonly #disabled = new Marks<DisableReason>();
  /** Endpoints that do not exist, so that this is reported once of each. */
  readonly #unknown = new Set<string>();

  /** @param changed - called when this endpoint, or with null everything, was stopped or resumed, by any process. */
  constructor(context: SenderContext, changed: (id: string | null) => void) {
    this.#context = context;
    this.#changed = changed;
  }

  /** The endpoints that are paused on their own, then the disabled ones. */
  get ids(): readonly string[] {
    return [...this.#paused.known.keys(), ...this.#disabled.known.keys()];
  }

  isPaused(id: string): boolean {
    return this.isAll || (this.#paused.known.size > 0 && this.#paused.known.has(id));
  }

  /** Whether it is paused or disabled on its own. */
  isStopped(id: string): boolean {
    return this.#paused.known.has(id) || this.#disabled.known.has(id);
  }

  /** Why an endpoint is disabled. */
  reasonOf(id: string): DisableReason | undefined {
    return this.#disabled.known.size === 0 ? undefined : this.#disabled.known.get(id);
  }

  /** Why the events of an endpoint become dead letters, also because there is no such endpoint. */
  shownReasonOf(id: string): DisableReason | undefined {
    return this.reasonOf(id) ?? (this.#unknown.size > 0 && this.#unknown.has(id) ? 'unknown' : undefined);
  }

  async pause(id: string): Promise<void> {
    const { store, report } = this.#context;
    const { known } = this.#paused;
    if (known.size >= MAX_PAUSED && !known.has(id)) {
      const most = MAX_PAUSED.toLocaleString('en');
      throw new BackpressureError('ERR_WBP_PAUSE', `At most ${most} endpoints can be paused.`);
    }
    const isNew = await store.pause(id);
    this.#paused.set(id, true);
    if (isNew) report.emit({ type: 'paused', endpoint: id });
    this.#changed(id);
  }

  /** @returns whether it was paused. */
  async resume(id: string): Promise<boolean> {
    const { store, report } = this.#context;
    const wasPaused = await store.resume(id);
    this.#paused.set(id, undefined);
    if (wasPaused) report.emit({ type: 'resumed', endpoint: id });
    this.#changed(id);
    return wasPaused;
  }

  /** The function `endpoint` returned settings, or null. Each change is reported once. */
  noteUnknown(id: string, isUnknown: boolean): void {
    if (!isUnknown) {
      if (this.#unknown.size > 0 && this.#unknown.delete(id))
        this.#context.report.emit({ type: 'enabled', endpoint: id });
      return;
    }
    if (this.#unknown.has(id)) return;
    if (this.#unknown.size >= MAX_UNKNOWN) this.#unknown.clear();
    this.#unknown.add(id);
    this.#reportDisabled(id, 'unknown');
  }

  /** Disables an endpoint: in this process immediately, in others within seconds. */
  disable(id: string, reason: 'gone' | 'failing'): void {
    if (this.#disabled.known.has(id)) return;
    this.#disabled.set(id, reason);
    this.#reportDisabled(id, reason);
    inBackground(this.#mark(id, reason));
    this.#changed(id);
  }

  /** Ends it. Returns whether the endpoint was disabled. Rejects with what the store throws. */
  async enable(id: string): Promise<boolean> {
    const { store, report } = this.#context;
    if (!this.#disabled.known.has(id)) return false;
    // Another process may have noted another reason.
    for (const reason of REASONS) await store.resume(markerOf(id, reason));
    this.#disabled.set(id, undefined);
    report.emit({ type: 'enabled', endpoint: id });
    this.#changed(id);
    return true;
  }

  /** Adopts the pauses that the store has listed. */
  learn(pausedKeys: readonly string[], isAll: boolean): void {
    const paused = new Map<string, true>();
    const disabled = new Map<string, DisableReason>();
    for (const key of pausedKeys) {
      const reason = REASONS.find((one) => key.startsWith(markerOf('', one)));
      if (reason === undefined) paused.set(key, true);
      else disabled.set(key.slice(markerOf('', reason).length), reason);
    }
    if (isAll !== this.isAll) {
      this.isAll = isAll;
      this.#changed(null);
    }
    for (const id of [...this.#disabled.adopt(disabled), ...this.#paused.adopt(paused)]) this.#changed(id);
  }

  #reportDisabled(endpoint: string, reason: DisableReason): void {
    const { report, now } = this.#context;
    report.totals.disabled += 1;
    report.monitor?.lost('disabled', 1, now());
    report.emit({ type: 'disabled', endpoint, reason });
  }

  async #mark(id: string, reason: DisableReason): Promise<void> {
    const { store, health } = this.#context;
    if (this.#disabled.known.size > MAX_MARKERS) return;
    try {
      await health.rest();
      // An operator may have resumed it during the rest.
      if (this.#disabled.known.get(id) === reason) await store.pause(markerOf(id, reason));
    } catch (error) {
      // It stays disabled in this process. After a restart, its next failure disables it again.
      health.failed('pause', error);
    }
  }
}

/** What the store remembers of endpoints, as far as this process knows. */
class Marks<V> {
  known: Map<string, V> = new Map<string, V>();
  /** Changes by this process that the counts of the store may lack. */
  readonly #recent = new Map<string, V | undefined>();

  set(id: string, mark: V | undefined): void {
    this.#recent.set(id, mark);
    if (mark === undefined) this.known.delete(id);
    else this.known.set(id, mark);
  }

  /** Replaces all marks by those that the store has listed. Returns the ids that have got one or lost it. */
  adopt(found: Map<string, V>): string[] {
    // The counts may have been read before a change of this process.
    for (const [id, mark] of this.#recent) {
      if (found.get(id) === mark) this.#recent.delete(id);
      else if (mark === undefined) found.delete(id);
      else found.set(id, mark);
    }
    const before = this.known;
    this.known = found;
    const gone = [...before.keys()].filter((id) => !found.has(id));
    return [...gone, ...[...found.keys()].filter((id) => !before.has(id))];
  }
}

function markerOf(id: string, reason: DisableReason): string {
  return `${DISABLED_PREFIX}${reason}:${id}`;
}
