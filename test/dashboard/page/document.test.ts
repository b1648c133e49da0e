import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { pageDocument, pageHashes } from '../../../packages/dashboard/src/page/document.ts';

const SOURCE = join(import.meta.dirname, '../../../packages/dashboard/page');

describe('the document of the live page', () => {
  it('has one script and one style, with the hashes of the content security policy', () => {
    const contents = (tag: string): string[] =>
      [...pageDocument.matchAll(new RegExp(`<${tag}(?: [^>]*)?>(.*?)</${tag}>`, 'gs'))].map(
        ([, text = '']) => text,
      );
    const hash = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
    expect(contents('script').map(hash)).toEqual([pageHashes.script]);
    expect(contents('style').map(hash)).toEqual([pageHashes.style]);
    expect(pageDocument).not.toMatch(/<[^>]+ (style|on\w+|src)=/);
  });

  it('is below 60 kB gzipped', () => {
    expect(gzipSync(pageDocument).length).toBeLessThan(60_000);
  });

  it('names no other host than that of the documentation', () => {
    const hosts = [...pageDocument.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host);
    // The second is the name of a namespace.
    expect(new Set(hosts)).toEqual(new Set(['github.com', 'www.w3.org']));
    expect(pageDocument).not.toMatch(/@import|url\(/);
  });

  it('contains the licence of uPlot', () => {
    expect(pageDocument).toMatch(/uPlot\s+The MIT License[\s\S]+Leon Sorokin/);
  });

  it('never makes HTML or code of data', () => {
    expect(pageDocument).not.toMatch(
      /\b(innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|setHTMLUnsafe)\b/,
    );
    expect(pageDocument).not.toMatch(/\bdocument\.write|\beval\(|new Function\b|\bFunction\(/);
    const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    expect(files.length).toBeGreaterThan(20);
    for (const file of files)
      expect(readFileSync(join(SOURCE, file), 'utf8'), file).not.toMatch(/innerHTML|javascript:/);
  });
});
