import type { InboxRequest, Verifier } from '@webhook-backpressure/inbox';
import { expect } from 'vitest';
import { InboxBench } from '../inbox/inbox-bench.ts';
import { BODY_ROWS } from './cases/body-rows.ts';
import { HMAC_ROWS } from './cases/hmac-rows.ts';
import { KEY_ROWS } from './cases/key-rows.ts';
import type { Row, Sent } from './cases/signed.ts';
import { URL_ROWS } from './cases/url-rows.ts';

/** A row for each sender, and for each way in which one signs. */
export const rows: readonly Row[] = [...HMAC_ROWS, ...URL_ROWS, ...BODY_ROWS, ...KEY_ROWS];

/** The status with which an inbox with this verifier answers. */
export async function statusOf(
  verify: Verifier,
  { body, headers, url }: Sent,
  more: Partial<InboxRequest> = {},
): Promise<number> {
  const bench = new InboxBench({ verify });
  const answer = await bench.send(undefined, body, headers, { url: url ?? '/webhooks', ...more });
  const status = answer?.status ?? 0;
  expect(bench.inbox.snapshot().totals.stored).toBe(status < 300 ? 1 : 0);
  return status < 300 ? 200 : status;
}
