import { expect } from 'vitest';
import type { Reply } from './sender.ts';

const PROBLEM = 'https://iana.org/assignments/http-problem-types';

/** The exact responses of a receiver with an unknown drain rate and `random: () => 0.5`. */
export const REFUSALS = {
  full503: answer(503, 'full', "The receiver's queue is full."),
  full429: answer(429, 'full', "The receiver's queue is full."),
  wait503: answer(503, 'wait', 'The delivery would wait too long, or has waited too long.'),
  displaced503: answer(503, 'displaced', 'A newer delivery has taken the place of this one.'),
  closing503: answer(503, 'closing', 'The receiver is shutting down.'),
} as const;

interface Answer {
  readonly status: number;
  readonly body: string;
}

function answer(status: 429 | 503, reason: string, detail: string): Answer {
  const [type, title] =
    status === 429
      ? [`${PROBLEM}#quota-exceeded`, 'Quota Exceeded']
      : [`${PROBLEM}#temporary-reduced-capacity`, 'Temporary Reduced Capacity'];
  const violated = status === 429 ? { 'violated-policies': ['queue'] } : {};
  const problem = { type, title, status, detail, ...violated, reason, retryAfterSeconds: 5 };
  return { status, body: JSON.stringify(problem) };
}

/** Expects this exact refusal from any framework. */
export async function expectRefusal(given: Promise<Reply>, { status, body }: Answer): Promise<Reply> {
  const reply = await given;
  expect(reply.body).toBe(body);
  expect(reply.status).toBe(status);
  expect(reply.headers).toMatchObject({
    'retry-after': '5',
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
  });
  // Some servers send every web-standard response in chunks.
  if (reply.headers['transfer-encoding'] !== 'chunked') {
    expect(reply.headers['content-length']).toBe(String(body.length));
  }
  return reply;
}
