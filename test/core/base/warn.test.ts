import { inBackground } from '@webhook-backpressure/base';
import { afterEach, expect, it, vi } from 'vitest';
import { endings, thrownValues } from '../../thrown-values.ts';

const ended = endings();

afterEach(() => {
  vi.restoreAllMocks();
});

it.each(thrownValues)(
  'a promise that no code awaits is reported when it rejects with %s',
  async (_name, value) => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- of any kind
    inBackground(Promise.reject(value()));
    await new Promise(setImmediate);
    expect(warn).toHaveBeenCalledWith(expect.any(String), expect.objectContaining({ code: 'WBP_BUG' }));
    expect(ended).toEqual([]);
  },
);
