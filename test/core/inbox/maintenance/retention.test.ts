import { describe, expect, it } from 'vitest';
import { InboxBench } from '../inbox-bench.ts';

describe('completed ids', () => {
  it('are forgotten after the retention', async () => {
    const bench = new InboxBench({ retentionMs: 2 * 3_600_000 });
    await bench.deliver('a');
    await bench.last.finish();
    for (let at = 0; at < 119; at += 1) await bench.advance(60_000);
    expect(JSON.parse((await bench.deliver('a')).body)).toMatchObject({ status: 'duplicate' });
    await bench.advance(60_000);
    for (let at = 0; at < 2; at += 1) await bench.advance(5000);
    expect(JSON.parse((await bench.deliver('a')).body)).toMatchObject({ status: 'accepted' });
  });
});
