import { STATUS_CODES } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createRefusal } from '@webhook-backpressure/core/extend';
import { type RefusalReason, createIntake } from '@webhook-backpressure/core';
import { codeIn, page, pages, rowsOf, sectionOf, tokensOf } from './pages.ts';

const shown = pages.flatMap(({ path, tokens }) =>
  tokensOf('code', tokens)
    // docs/sending.md shows a request as well.
    .filter(({ lang, text }) => lang === 'http' && text.startsWith('HTTP/'))
    .map(({ text }) => ({ path, text })),
);

interface Problem {
  readonly status: 429 | 503;
  readonly reason: RefusalReason;
  readonly retryAfterSeconds: number;
}

it('shows a refusal of each status', () => {
  const statuses = shown.map(({ text }) => /^HTTP\/1.1 (\d+)/.exec(text)?.[1]);
  expect([...new Set(statuses)].sort()).toEqual(['429', '503']);
});

describe.each(shown)('a response in $path', ({ text }) => {
  it('is the response of a refusal, byte for byte', () => {
    const [head = '', body = ''] = text.split('\n\n');
    const { status, reason, retryAfterSeconds } = JSON.parse(body) as Problem;
    const refusal = createRefusal(reason, status, retryAfterSeconds);
    const headers = Object.entries(refusal.headers).map(([name, value]) => `${name}: ${value}`);
    expect(body).toBe(refusal.body);
    expect(head.split('\n')).toEqual([
      `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`,
      ...headers,
    ]);
  });
});

it('explains every reason with the detail of its response', () => {
  const rows = rowsOf(sectionOf(page('docs/refusals.md'), 'Reasons'), '`reason`');
  const reasons = Object.keys(createIntake().snapshot().totals.refused) as RefusalReason[];
  const details = reasons.map((reason) => {
    const { detail } = JSON.parse(createRefusal(reason, 503, 1).body) as { detail: string };
    return [reason, detail];
  });
  expect(rows.map((row) => [codeIn(row['`reason`'])[0], row['`detail`']]).sort()).toEqual(details.sort());
});
