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

/** Puts text between the two comments `name:begin` and `name:end` of the README. Everything else in it stays. */
export async function writeInReadme(name: string, content: string): Promise<void> {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [head, rest = ''] = readme.split(begin);
  const [, tail] = rest.split(end);
  if (tail === undefined) throw new Error(`The README has no ${begin} and ${end}.`);
  await write('../README.md', `${head ?? ''}${begin}${content}${end}${tail}`);
}
