import type { LogSettings } from './event-logger.ts';
import { KeyCounts } from './key-counts.ts';
import type { SumRule } from './sums.ts';

const MOST_ERRORS = 3;
const MOST_CHARACTERS = 300;

/** The message of an error as lines show it. */
export function shownError(message: string): string {
  return message.length <= MOST_CHARACTERS ? message : `${message.slice(0, MOST_CHARACTERS)}…`;
}

type Values = Readonly<Record<string, unknown>>;

/** Adds up the events of one type. */
export class EventSum {
  readonly #rule: SumRule;
  readonly #keys = new KeyCounts();
  readonly #errors = new Set<string>();
  readonly #counted: readonly (readonly [field: string, counts: Map<string, number>])[];
  #count = 0;
  #lossRisk = 0;
  #largest = 0;

  constructor(rule: SumRule) {
    this.#rule = rule;
    this.#counted = (rule.counted ?? []).map((field) => [field, new Map<string, number>()]);
  }

  add(event: Values): void {
    this.#count += 1;
    for (const [field, counts] of this.#counted) {
      const given = String(event[field]);
      // An attempt without an answer has no status.
      const value = given === 'undefined' ? 'none' : given;
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    const { largest } = this.#rule;
    if (largest !== undefined) this.#largest = Math.max(this.#largest, Number(event[largest[0]]));
    if (event['lossRisk'] === true) this.#lossRisk += 1;
    this.#keys.add(String(event['key'] ?? event['endpoint']));
    const { error } = event;
    if (typeof error === 'string' && this.#errors.size < MOST_ERRORS) this.#errors.add(shownError(error));
  }

  fields({ keys, hasErrors }: Pick<LogSettings, 'keys' | 'hasErrors'>): Values {
    const [, name = ''] = this.#rule.largest ?? [];
    return {
      count: this.#count,
      ...Object.fromEntries(this.#counted.map(([field, counts]) => [field, Object.fromEntries(counts)])),
      ...(name === '' ? {} : { [name]: Math.round(this.#largest) }),
      ...(this.#lossRisk === 0 ? {} : { lossRisk: this.#lossRisk }),
      ...(hasErrors && this.#errors.size > 0 ? { errors: [...this.#errors] } : {}),
      ...(keys === 0 ? {} : this.#keys.top(keys)),
    };
  }

  message(seconds: number, isDryRun: boolean): string {
    const { text, dryRunText = text } = this.#rule;
    const [first] = this.#counted;
    const parts = [...(first?.[1] ?? [])].sort(([, a], [, b]) => b - a);
    const details = parts.map(([value, count]) => `${String(count)} ${value}`).join(', ');
    const among = details === '' ? '' : ` (${details})`;
    return `${isDryRun ? dryRunText : text} in ${String(seconds)} s: ${String(this.#count)}${among}.`;
  }
}
