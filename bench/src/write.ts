import { mkdirSync, writeFileSync } from 'node:fs';
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
