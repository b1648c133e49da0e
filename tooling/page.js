// Makes the document of the dashboard's live page from packages/dashboard/page: one HTML document with the script and the
// style in it, and the hashes with which a content security policy allows these two and nothing else.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundle } from 'lightningcss';
import { rolldown } from 'rolldown';
import { root } from './packages.js';

const SOURCE = join(root, 'packages/dashboard/page');
const OUTPUT = join(root, 'packages/dashboard/src/page/document.ts');
const UPLOT = join(dirname(createRequire(join(SOURCE, 'main.ts')).resolve('uplot')), '..');

/** The page may be loaded over a slow network, during an incident. */
const MAX_GZIPPED_BYTES = 60_000;

const style = styleOf(join(UPLOT, 'dist/uPlot.min.css')) + styleOf(join(SOURCE, 'page.css'));
const script = await scriptOf(join(SOURCE, 'main.ts'));
// The replacement is a function, because a string could hold patterns such as `$&`.
const document = read(SOURCE, 'page.html')
  .replace('<style></style>', () => `<style>${style}</style>`)
  .replace('<script type="module"></script>', () => `<script type="module">${script}</script>`);

const bytes = gzipSync(document, { level: 9 }).length;
if (bytes >= MAX_GZIPPED_BYTES) {
  throw new Error(`The page has ${String(bytes)} bytes gzipped, and may have ${String(MAX_GZIPPED_BYTES)}.`);
}
const code = `// Made from packages/dashboard/page by tooling/page.js.
export const pageDocument: string = ${JSON.stringify(document)};
export const pageHashes: { readonly script: string; readonly style: string } = ${JSON.stringify({
  script: hashOf(script),
  style: hashOf(style),
})};
`;
// An unchanged file keeps its time, so that nothing is built again.
if (!existsSync(OUTPUT) || readFileSync(OUTPUT, 'utf8') !== code) {
  mkdirSync(dirname(OUTPUT), { recursive: true });
  writeFileSync(OUTPUT, code);
}

/**
 * @param {string} folder
 * @param {string} file
 */
function read(folder, file) {
  return readFileSync(join(folder, file), 'utf8');
}

/** @param {string} filename */
function styleOf(filename) {
  const { code: minified } = bundle({ filename, minify: true });
  return checked(minified.toString(), 'style');
}

/** @param {string} entry */
async function scriptOf(entry) {
  const build = await rolldown({
    input: entry,
    platform: 'browser',
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message);
    },
  });
  const { output } = await build.generate({ format: 'es', minify: true, comments: false });
  await build.close();
  const [chunk] = output;
  if (output.length > 1) throw new Error('The script must be one file.');
  return checked(`/*! uPlot\n\n${read(UPLOT, 'LICENSE')}*/\n${chunk.code}`, 'script');
}

/**
 * An end tag inside would end the element, and the browser would hash something else.
 *
 * @param {string} text
 * @param {string} tag
 */
function checked(text, tag) {
  if (new RegExp(`</${tag}|<!--`, 'i').test(text))
    throw new Error(`The ${tag} contains an end tag or a comment.`);
  // A browser hashes the text as the HTML parser passes it on.
  return text.replaceAll('\r\n', '\n');
}

/** @param {string} text */
function hashOf(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
