import type { StoredDelivery } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { ClaimBed } from './claim-bed.ts';

describe('events that were damaged after they were stored', () => {
  it.each<[string, Partial<StoredDelivery>]>([
    ['an empty body', { rawBody: new Uint8Array() }],
    ['a cut body', { rawBody: Buffer.from('{"type":"a","data":{') }],
    ['a body that is no JSON', { rawBody: Buffer.from('{"type":"a","data":NaN}') }],
    ['a body that is no UTF-8', { rawBody: Buffer.from('{"type":"a","data":"\xff"}', 'latin1') }],
    ['a body with other fields first', { rawBody: Buffer.from('{"data":1,"type":"a"}') }],
    ['a body without data', { rawBody: Buffer.from('{"type":"a"}') }],
    ['a header with a line break', { headers: { a: 'b\r\nc: d' } }],
    ['a header of the sender', { headers: { 'webhook-signature': 'v1,a' } }],
    ['a time without a date', { receivedAtMs: 1e300 }],
  ])('become dead letters with %s, and are not sent', async (_, fields) => {
    const sent: string[] = [];
    const of = new ClaimBed(({ id }) => {
      sent.push(id);
      return new Response(null, { status: 204 });
    });
    of.gated.damaged.set('e1', fields);
    await of.sendAll(0, 3);
    await of.bed.run(1000);
    expect(sent).toEqual(['e0', 'e2']);
    expect(await of.bed.sender.deadLetters.list()).toMatchObject([
      { id: 'e1', error: expect.stringMatching(/^The stored event is damaged: /) as string },
    ]);
    expect(of.bed.types().filter((type) => type === 'dead')).toHaveLength(1);
  });
});
