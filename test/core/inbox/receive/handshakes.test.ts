import { describe, expect, it } from 'vitest';
import { Handshakes } from '../../../../packages/inbox/src/receive/handshakes.ts';

describe('handshakes admitted as critical', () => {
  it('are ten per second', () => {
    const handshakes = new Handshakes();
    let passed = 0;
    for (let ms = 0; ms < 10_000; ms += 1) {
      if (!handshakes.tryBegin(ms)) continue;
      passed += 1;
      handshakes.end();
    }
    // Ten to begin with, and then ten each second.
    expect(passed).toBeGreaterThanOrEqual(109);
    expect(passed).toBeLessThanOrEqual(110);
  });

  it('are five concurrently', () => {
    const handshakes = new Handshakes();
    const passed = Array.from({ length: 8 }, () => handshakes.tryBegin(0)).filter(Boolean);
    expect(passed).toHaveLength(5);
    expect(handshakes.tryBegin(60_000)).toBe(false);
    handshakes.end();
    expect([handshakes.tryBegin(60_000), handshakes.tryBegin(60_000)]).toEqual([true, false]);
  });

  it('do not accumulate while there are none', () => {
    const handshakes = new Handshakes();
    let passed = 0;
    for (let i = 0; i < 50; i += 1) {
      if (!handshakes.tryBegin(3_600_000)) break;
      passed += 1;
      handshakes.end();
    }
    expect(passed).toBe(10);
  });
});
