import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const BASE = '/webhook-backpressure/';
/** Only to resolve addresses. */
const HOST = 'http://site.invalid';

/**
 * VitePress checks that linked pages exist. This also checks the headings and files that pages link to, and that pages
 * load nothing from other hosts.
 *
 * @param {string} folder with the built site
 * @returns {string[]} a line for each link that leads nowhere
 */
export function brokenLinks(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const pages = new Map(
    files
      .filter((file) => file.endsWith('.html'))
      .map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  );
  const anchors = new Map(
    [...pages].map(([file, html]) => [
      file,
      new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => unescaped(id))),
    ]),
  );
  const broken = [...pages].flatMap(([file, html]) => {
    const here = `${HOST}${BASE}${file.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')}`;
    return [...html.matchAll(/<(\w+)\s[^>]*?(href|src)="([^"]+)"/g)].flatMap(([, tag, , target]) => {
      const url = new URL(unescaped(target), here);
      if (url.protocol === 'data:') return [];
      if (url.origin !== HOST) return tag === 'a' || tag === 'link' ? [] : [`${file} loads ${url.href}`];
      const missing = missingPart(url);
      return missing === undefined ? [] : [`${file} links to ${missing}`];
    });
  });
  return [...new Set(broken)].sort();

  /**
   * @param {URL} url
   * @returns {string | undefined}
   */
  function missingPart({ pathname, hash }) {
    if (!pathname.startsWith(BASE)) return `${pathname}, outside of the site`;
    const path = decodeURIComponent(pathname.slice(BASE.length));
    // As GitHub Pages does: a folder is its index, and a page has no extension.
    const page = [`${path}.html`, join(path, 'index.html'), path].find((file) => pages.has(file));
    if (page === undefined) return existsSync(join(folder, path)) && path !== '' ? undefined : pathname;
    const anchor = decodeURIComponent(hash.slice(1));
    return anchor === '' || anchors.get(page)?.has(anchor) === true ? undefined : `${pathname}${hash}`;
  }
}

/**
 * @param {string | undefined} text of an attribute
 * @returns {string}
 */
function unescaped(text = '') {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&');
}
