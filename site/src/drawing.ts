import { renderMermaidSVG } from 'beautiful-mermaid';

/**
 * A Mermaid diagram as SVG. It is drawn when the site is built, because Mermaid in the browser is larger than all pages
 * together.
 */
export function drawingOf(code: string): string {
  const svg = renderMermaidSVG(code.trim(), { bg: 'var(--vp-c-bg)', fg: 'var(--vp-c-text-1)' })
    // The theme has these rules: a style element can't be part of a page, and this one loads a font from another host.
    .replace(/<style>[\s\S]*?<\/style>/, '');
  return `<div class="scrolled drawing" role="group" aria-label="Diagram" tabindex="0" v-pre>${svg}</div>\n`;
}
