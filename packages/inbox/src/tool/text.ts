/** Escapes control characters: ids, headers and bodies come from unknown senders, and a terminal would execute them. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** {@link printable}, but keeps line breaks and tabs. */
export function printableLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n');
}

/** Decrypts nothing: the tool has no keys. */
export function keyless(): Promise<never> {
  return Promise.reject(new Error('The tool has no keys.'));
}

export function quoted(text: string): string {
  return JSON.stringify(printable(text));
}

export function deliveries(count: number): string {
  return count === 1 ? '1 delivery' : `${String(count)} deliveries`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const UNITS: readonly (readonly [name: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
];

export function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  for (const [name, size] of UNITS) {
    if (seconds >= 2 * size) return `${String(Math.floor(seconds / size))} ${name}`;
  }
  return `${String(seconds)} s`;
}

export function bytes(count: number): string {
  if (count < 1024) return `${String(count)} B`;
  const kib = count / 1024;
  return kib < 1024 ? `${kib.toFixed(1)} KiB` : `${(kib / 1024).toFixed(1)} MiB`;
}

export function time(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}

/** The output of a command, or a sentence that says why it failed. */
export type Answer =
  | { readonly problem: string }
  | {
      readonly problem?: never;
      readonly text: string;
      /** For `--json`. */
      readonly data: unknown;
      /** Whether some of the deliveries were not moved. */
      readonly isPartial?: boolean;
    };

export function notFound(id: string, key: string | undefined, where: string): Answer {
  const ofKey = key === undefined ? '' : ` with the key ${quoted(key)}`;
  return { problem: `There is no delivery ${quoted(id)}${ofKey} ${where}.` };
}
