import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { root } from '../../tooling/packages.js';
import { hrefOf } from './addresses.ts';
import { drawingOf } from './drawing.ts';
import { nameOptionRows } from './option-rows.ts';
import { withReadmeCode } from './readme-code.ts';
import { labelCells } from './tables.ts';

/** The parts of a token of markdown-it that are used here. */
export interface Token {
  type: string;
  readonly info: string;
  content: string;
  readonly children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

interface State {
  src: string;
  readonly tokens: Token[];
  readonly env: Environment;
}

type Render = (tokens: Token[], index: number, ...rest: unknown[]) => string;

/** The parts of a renderer of markdown-it that are used here. */
export interface MarkdownIt {
  readonly core: {
    readonly ruler: {
      push(name: string, rule: (state: State) => void): void;
      before(next: string, name: string, rule: (state: State) => void): void;
    };
  };
  readonly renderer: { readonly rules: Record<string, Render | undefined> };
}

/** What VitePress says about the page: `path` is its address if `realPath` is its file. */
interface Environment {
  readonly path?: string;
  readonly realPath?: string;
}

/** Makes pages that are written for GitHub work on the site: links, pictures and diagrams. */
export function forSite(markdown: MarkdownIt): void {
  markdown.core.ruler.before('normalize', 'readme-code', (state) => {
    state.src = withReadmeCode(state.src, readFileSync(join(root, 'README.md'), 'utf8'));
  });
  markdown.core.ruler.push('for-site', ({ tokens, env }) => {
    const file = env.realPath ?? env.path;
    // The title in the head of a page.
    if (file === undefined) return;
    nameOptionRows(tokens);
    labelCells(tokens);
    const source = relative(root, file).split(sep).join('/');
    for (const token of tokens) {
      if (token.type === 'html_block') token.content = pictureOf(token.content);
      for (const child of token.children ?? []) {
        if (child.type !== 'link_open') continue;
        child.attrSet('href', hrefOf(source, child.attrGet('href') ?? ''));
      }
    }
  });
  const { fence, image } = markdown.renderer.rules;
  markdown.renderer.rules['fence'] = (tokens, index, ...rest) => {
    const token = tokens[index];
    if (token?.info.trim() === 'mermaid') return drawingOf(token.content);
    return fence?.(tokens, index, ...rest) ?? '';
  };
  // Scrolls inside of the page, by the keyboard as well.
  markdown.renderer.rules['table_open'] = () =>
    '<div class="scrolled" tabindex="0" role="group" aria-label="Table"><table>\n';
  markdown.renderer.rules['image'] = (tokens, index, ...rest) => {
    const html = image?.(tokens, index, ...rest) ?? '';
    const isDrawn = tokens[index]?.attrGet('src')?.endsWith('.svg') === true;
    return isDrawn
      ? `<span class="scrolled" tabindex="0" role="group" aria-label="Picture">${html}</span>`
      : html;
  };
  markdown.renderer.rules['table_close'] = () => '</table></div>\n';
}

/** Follows the switch of the site: a picture element follows only the operating system. */
function pictureOf(html: string): string {
  return html.replaceAll(/<picture>([\s\S]*?)<\/picture>/g, (_, content: string) => {
    const [, dark = ''] = /<source [^>]*dark[^>]*srcset="([^"]+)"/.exec(content) ?? [];
    const [, light = ''] = /<img [^>]*src="([^"]+)"/.exec(content) ?? [];
    const [, alt = ''] = /alt="([^"]*)"/.exec(content) ?? [];
    const image = (path: string, theme: string): string =>
      `<img src="./${path}" class="only-${theme}" alt="${alt}">`;
    return `${image(light, 'light')}${image(dark, 'dark')}`;
  });
}
