import type { Options } from './wire.ts';

/** The texts of the fields, by the path of the option: `capacity`, `concurrency.min`. */
export type Draft = Readonly<Record<string, string>>;

/** An option that is a number, or an object with these numbers to adapt between. */
interface Ranged {
  readonly name: string;
  readonly parts: readonly string[];
}

export const RANGED: readonly Ranged[] = [
  { name: 'concurrency', parts: ['initial', 'min', 'max'] },
  { name: 'maxStartsPerSecond', parts: ['min', 'max', 'targetP99Ms'] },
];

const SINGLE = ['capacity', 'maxBytes', 'highWaterMark', 'lowWaterMark', 'maxWaitMs'];

/** The field that says whether a ranged option is `fixed` or `adaptive`. */
export function modeOf(name: string): string {
  return `${name}.mode`;
}

/** The options in force as texts of fields. */
export function draftOf(options: Options): Draft {
  const draft: Record<string, string> = {};
  for (const name of SINGLE) draft[name] = textOf(options[name]);
  for (const { name, parts } of RANGED) {
    const value = options[name];
    const isAdaptive = typeof value === 'object' && value !== null;
    draft[modeOf(name)] = isAdaptive ? 'adaptive' : 'fixed';
    draft[name] = isAdaptive ? '' : textOf(value);
    for (const part of parts) {
      draft[`${name}.${part}`] = isAdaptive ? textOf((value as Record<string, unknown>)[part]) : '';
    }
  }
  return draft;
}

/** The options that the edited fields change. A field that was emptied changes nothing, because no option has to go. */
export function changesOf(options: Options, draft: Draft): Record<string, unknown> {
  const inForce = draftOf(options);
  const changes: Record<string, unknown> = {};
  for (const name of SINGLE) {
    const text = draft[name]?.trim() ?? '';
    if (text !== '' && text !== inForce[name]) changes[name] = valueOf(text);
  }
  for (const { name, parts } of RANGED) {
    if (draft[modeOf(name)] === 'adaptive') {
      const paths = parts.map((part) => `${name}.${part}`);
      if (paths.every((path) => draft[path] === inForce[path])) continue;
      const given = parts
        .map((part) => [part, draft[`${name}.${part}`]?.trim() ?? ''] as const)
        .filter(([, text]) => text !== '');
      if (given.length > 0) {
        changes[name] = Object.fromEntries(given.map(([part, text]) => [part, valueOf(text)]));
      }
    } else {
      const text = draft[name]?.trim() ?? '';
      if (text !== '' && text !== inForce[name]) changes[name] = valueOf(text);
    }
  }
  return changes;
}

/** A number where the text is one. Any other text is sent as it is, so that the library says what is wrong. */
function valueOf(text: string): number | string {
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

function textOf(value: unknown): string {
  return typeof value === 'number' ? String(value) : '';
}

const FIELD_OF_CODE: Readonly<Record<string, string>> = {
  ERR_WBP_CAPACITY: 'capacity',
  ERR_WBP_MAX_BYTES: 'maxBytes',
  ERR_WBP_WATER_MARKS: 'highWaterMark',
  ERR_WBP_CONCURRENCY: 'concurrency',
  ERR_WBP_MAX_STARTS_PER_SECOND: 'maxStartsPerSecond',
  ERR_WBP_MAX_WAIT: 'maxWaitMs',
  ERR_WBP_SHED: 'shed',
};

/** The field at which an error is shown; undefined for an error of none. */
export function fieldOf(code: string, option: string | undefined): string | undefined {
  const named = option?.split(/[.[]/)[0];
  if (named === 'lowWaterMark') return named;
  return FIELD_OF_CODE[code] ?? named;
}

/** The keys that are switched off: the server sends a list, an update takes an object. */
export function shedKeys(options: Options): readonly string[] {
  const { shed } = options;
  if (Array.isArray(shed)) return shed.filter((key) => typeof key === 'string');
  if (typeof shed !== 'object' || shed === null) return [];
  return Object.entries(shed).flatMap(([key, isShed]) => (isShed === true ? [key] : []));
}
