import { titleOf } from './alarm-titles.ts';
import { factsOf, idOf, type AnySource } from './wire.ts';

/** Finds what screen readers should hear: changed states, and raised alarms. */
export class News {
  readonly #states = new Map<string, string>();
  readonly #alarms = new Map<string, ReadonlySet<string>>();

  of(sources: readonly AnySource[]): string[] {
    const sentences: string[] = [];
    for (const source of sources) {
      const id = idOf(source);
      const { state, alarms } = factsOf(source);
      const before = this.#states.get(id);
      if (before !== undefined && before !== state) sentences.push(`${source.name}: ${state}.`);
      this.#states.set(id, state);
      const raised = this.#alarms.get(id);
      for (const { code, message } of alarms) {
        if (raised !== undefined && !raised.has(code)) {
          sentences.push(`Alarm of ${source.name}: ${titleOf(code)}. ${message}`);
        }
      }
      this.#alarms.set(id, new Set(alarms.map(({ code }) => code)));
    }
    return sentences;
  }
}
