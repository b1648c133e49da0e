import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtInSenders, known } from '@webhook-backpressure/senders';
import { passingSentence } from '../../bench/src/passing/plan.ts';
import { root } from '../../tooling/packages.js';
import { isHeading, page, sectionOf, tokensOf } from './pages.ts';

const faq = page('docs/faq.md');
const questions = faq.tokens.filter(isHeading).flatMap(({ depth, text }) => (depth === 3 ? [text] : []));

describe('docs/faq.md', () => {
  it.each(questions)('answers in at most 80 words, with a link to more: %s', (question) => {
    const section = sectionOf(faq, question);
    const text = section.flatMap(({ type, raw }) => (type === 'code' ? [] : [raw])).join('');
    const words = text.replaceAll(/\]\([^)]*\)/g, ']').split(/\s+/).length;
    expect(words).toBeLessThanOrEqual(80);
    expect(tokensOf('link', section).length).toBeGreaterThan(0);
  });

  it('has the figures of the benchmark', () => {
    const results = JSON.parse(readFileSync(join(root, 'bench/results.json'), 'utf8')) as Parameters<
      typeof passingSentence
    >[0];
    expect(faq.source).toContain(
      `costs <!-- passing:begin -->${passingSentence(results)}<!-- passing:end --> of processor time on Node 24`,
    );
  });

  it('has the figures of the simulator for senders that ignore Retry-After', () => {
    const { comparisons } = JSON.parse(
      readFileSync(join(root, 'test/simulation/reports/figures.json'), 'utf8'),
    ) as { comparisons: Record<string, Record<string, { attemptsPerEvent: number }>> };
    const burst = comparisons['b-500-give-up'];
    const [ignoring, honoring] = [burst?.['exponential'], burst?.['booked']];
    expect(faq.source).toContain(
      `${ignoring?.attemptsPerEvent.toFixed(2) ?? ''} per delivery instead of ${honoring?.attemptsPerEvent.toFixed(2) ?? ''}`,
    );
  });

  it('says for how long Stripe retries', () => {
    expect(faq.source).toContain('retried by Stripe for up to three days');
    expect(known.stripe.retries).toMatchObject({ windowS: 3 * 24 * 3600 });
  });

  it('says that most senders ignore Retry-After', () => {
    expect(faq.source).toContain('### What if my sender ignores Retry-After?\n\nMost do.');
    const ignoring = builtInSenders.filter(({ retryAfter }) => retryAfter === 'ignored');
    expect(ignoring.length).toBeGreaterThan(builtInSenders.length / 2);
  });
});
