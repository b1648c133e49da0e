/** A mistake in a scenario. The message is one sentence with the field, the rule and the value. */
export class ScenarioError extends Error {
  /** Always `ScenarioError`. */
  override readonly name = 'ScenarioError';
}

/** A rule for a value, in words and as a check. */
export interface Rule<T> {
  readonly words: string;
  readonly holds: (value: unknown) => value is T;
}

export function aNumber(words: string, holds: (value: number) => boolean): Rule<number> {
  return {
    words,
    holds: (value): value is number => typeof value === 'number' && Number.isFinite(value) && holds(value),
  };
}

export const DAY_MS = 86_400_000;

export const aPositive: Rule<number> = aNumber('a number above 0', (value) => value > 0);
export const aCount: Rule<number> = aNumber(
  'an integer of at least 0',
  (value) => Number.isSafeInteger(value) && value >= 0,
);
export const aString: Rule<string> = { words: 'a string', holds: (value) => typeof value === 'string' };
export const aBoolean: Rule<boolean> = {
  words: 'true or false',
  holds: (value) => typeof value === 'boolean',
};

export function oneOf<T extends string | number>(...values: readonly T[]): Rule<T> {
  return {
    words: `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`,
    holds: (value): value is T => values.includes(value as T),
  };
}

/**
 * Reads the fields of one object of a scenario, or of other input of the user. Each field that is read counts as known;
 * {@link end} reports the first unknown field.
 */
export class Fields {
  readonly path: string;
  /** Of what these are the fields, in messages: "a scenario". */
  readonly #of: string;
  readonly #values: Map<string, unknown>;
  readonly #known: string[] = [];

  constructor(path: string, value: unknown, of: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw mistake(path === '' ? of.replace(/^a /, 'the ') : path, 'an object', value);
    }
    this.path = path;
    this.#of = of;
    this.#values = new Map(Object.entries(value));
  }

  /** Returns the value of a field, or `absent` if it is missing. Without `absent` the field is required. */
  get<T>(name: string, rule: Rule<T>, absent?: T): T {
    const value = this.#read(name);
    if (value === undefined && absent !== undefined) return absent;
    if (rule.holds(value)) return value;
    throw mistake(this.#pathOf(name), rule.words, value);
  }

  /** Returns the value of an optional field without a default. */
  maybe<T>(name: string, rule: Rule<T>): T | undefined {
    return this.has(name) ? this.get(name, rule) : undefined;
  }

  /** Returns a value without a check. */
  raw(name: string): unknown {
    return this.#read(name);
  }

  has(name: string): boolean {
    return this.#read(name) !== undefined;
  }

  object<T>(name: string, read: (fields: Fields) => T): T {
    return readAll(this.#pathOf(name), this.#read(name), read, this.#of);
  }

  list<T>(name: string, atLeast: 0 | 1, read: (fields: Fields) => T): T[] {
    const value = this.#read(name);
    if (value === undefined && atLeast === 0) return [];
    if (!Array.isArray(value) || value.length < atLeast) {
      throw mistake(this.#pathOf(name), atLeast === 0 ? 'an array' : 'an array of at least one entry', value);
    }
    return value.map((entry, index) =>
      readAll(`${this.#pathOf(name)}[${String(index)}]`, entry, read, this.#of),
    );
  }

  end(): void {
    for (const name of this.#values.keys()) {
      if (this.#known.includes(name)) continue;
      const known = this.#known.join(', ');
      throw new ScenarioError(`${this.#pathOf(name)} is not a field of ${this.#of}; known here: ${known}.`);
    }
  }

  #read(name: string): unknown {
    if (!this.#known.includes(name)) this.#known.push(name);
    return this.#values.get(name);
  }

  #pathOf(name: string): string {
    const plain = /^[A-Za-z_$][\w$]*$/.test(name);
    if (!plain) return `${this.path}[${JSON.stringify(name)}]`;
    return this.path === '' ? name : `${this.path}.${name}`;
  }
}

/** Reads all fields of an object. A field that `read` does not read is a mistake. */
export function readAll<T>(path: string, value: unknown, read: (fields: Fields) => T, of = 'a scenario'): T {
  const fields = new Fields(path, value, of);
  const result = read(fields);
  fields.end();
  return result;
}

export function mistake(path: string, rule: string, value: unknown): ScenarioError {
  return new ScenarioError(`${path} must be ${rule}, but was ${shown(value)}.`);
}

const SHOWN_CHARACTERS = 80;

function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  // A scenario is JSON, so this shows the value as it was written.
  const text = JSON.stringify(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
