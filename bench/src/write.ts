import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const PARSERS: Readonly<Record<string, string>> = { md: 'markdown', json: 'json' };

/** Writes a file of the bench folder, formatted as everything else is. */
export async function write(file: string, content: string): Promise<void> {
  const path = new URL(`../${file}`, import.meta.url);
  mkdirSync(new URL('.', path), { recursive: true });
  const parser = PARSERS[file.split('.').at(-1) ?? ''];
  const options = await resolveConfig(fileURLToPath(path));
  writeFileSync(path, parser === undefined ? content : await format(content, { ...options, parser }));
}

/** The text of a file of the bench folder. */
export function textOfBench(file: string): string {
  return readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
}

/** Puts text between the two comments `name:begin` and `name:end` of a file. Everything else in it stays. */
export async function writeBetween(file: string, name: string, content: string): Promise<void> {
  await write(file, between(textOfBench(file), name, content));
}

/** The text with `content` between its two comments `name:begin` and `name:end`. */
function between(text: string, name: string, content: string): string {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [head, rest = ''] = text.split(begin);
  const [, tail] = rest.split(end);
  if (tail === undefined) throw new Error(`There are no comments ${begin} and ${end}.`);
  return `${head ?? ''}${begin}${content}${end}${tail}`;
}
