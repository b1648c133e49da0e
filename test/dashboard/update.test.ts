import { createIntake } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import type { Change } from '@webhook-backpressure/dashboard';
import { post, problemOf, stateOf, watched } from './fixtures.ts';

describe('update', () => {
  it('changes the options of an intake', async () => {
    const { page, intake } = watched({ allowUpdate: true });
    const options = {
      capacity: 50,
      highWaterMark: 0.9,
      lowWaterMark: 0.4,
      concurrency: 3,
      shed: { noisy: true },
    };
    const answer = await page.fetch(post('update', { intake: 'intake', options }));
    expect(answer.status).toBe(200);
    expect(intake.snapshot()).toMatchObject({ capacity: 50, highWater: 45, lowWater: 20, concurrency: 3 });
    expect(intake.admit({ key: 'noisy' })).toMatchObject({ reason: 'shed' });
  });

  it('switches keys off and on again, and leaves those that another operator has switched', async () => {
    const { page, intake } = watched({ allowUpdate: true });
    const shed = async (keys: string): Promise<void> => {
      const body = `{"intake":"intake","options":{"shed":${keys}}}`;
      expect((await page.fetch(post('update', body))).status).toBe(200);
    };
    await shed('{"acme":true}');
    await shed('{"__proto__":true}');
    expect(intake.snapshot().options.shed).toEqual(['acme', '__proto__']);
    await shed('{"acme":false}');
    expect(intake.snapshot().options.shed).toEqual(['__proto__']);
  });

  it.each([null, true, 'acme', ['acme'], { acme: 1 }])('leaves shed: %j to the library', async (shed) => {
    const { page } = watched({ allowUpdate: true });
    const answer = await page.fetch(post('update', { intake: 'intake', options: { shed } }));
    expect(answer.status).toBe(400);
    expect(await problemOf(answer)).toMatchObject({ code: 'ERR_WBP_SHED', option: 'shed' });
  });

  it('changes the options of an inbox', async () => {
    const { page, inbox } = watched({ allowUpdate: true });
    const answer = await page.fetch(post('update', { inbox: 'inbox', options: { capacity: 7 } }));
    expect(answer.status).toBe(200);
    expect(inbox.snapshot().capacity).toBe(7);
  });

  it('answers an invalid value with the error of the library, and changes nothing', async () => {
    const { page, intake } = watched({ allowUpdate: true });
    const options = { concurrency: 4, capacity: 0 };
    const answer = await page.fetch(post('update', { intake: 'intake', options }));
    expect(answer.status).toBe(400);
    expect(await problemOf(answer)).toEqual({
      code: 'ERR_WBP_CAPACITY',
      message: 'capacity must be an integer of at least 1, but was 0.',
      help: 'https://github.com/webhook-backpressure/webhook-backpressure/blob/main/docs/errors.md#err_wbp_capacity',
      option: 'capacity',
    });
    expect(intake.snapshot()).toMatchObject({ capacity: 10, concurrency: 1 });
  });

  it.each<[string, Record<string, unknown>, string | undefined]>([
    ['ERR_WBP_UNKNOWN_OPTION', { capcity: 5 }, 'capcity'],
    ['ERR_WBP_UNKNOWN_OPTION', { capacity: 5, capcity: 5 }, 'capcity'],
    ['ERR_WBP_NOT_TUNABLE', { dryRun: true, capacity: 5 }, 'dryRun'],
    ['ERR_WBP_WATER_MARKS', { highWaterMark: 0.3, lowWaterMark: 0.4 }, 'lowWaterMark'],
    ['ERR_WBP_CAPACITY', { capacity: null }, 'capacity'],
    ['ERR_WBP_RETRY_AFTER', { retryAfter: { minSeconds: 0 }, capacity: 5 }, 'retryAfter'],
  ])('says that %s of %j is about %s', async (code, options, option) => {
    const { page, intake } = watched({ allowUpdate: true });
    const answer = await page.fetch(post('update', { intake: 'intake', options }));
    expect(answer.status).toBe(400);
    const found = await problemOf(answer);
    expect(found).toMatchObject({ code, option });
    expect(found.message).not.toContain('file:');
    expect(intake.snapshot().capacity).toBe(10);
  });

  it.each<[unknown, number]>([
    [{ intake: 'other', options: {} }, 404],
    [{ intake: '__proto__', options: {} }, 404],
    [{ intake: 'constructor', options: {} }, 404],
    [{ intake: 5, options: {} }, 404],
    [{ intake: 'intake', inbox: 'inbox', options: {} }, 404],
    [{ options: {} }, 404],
    [{ intake: 'intake' }, 400],
    [{ intake: 'intake', options: [] }, 400],
    [{ intake: 'intake', options: null }, 400],
    [[], 400],
    [null, 400],
    ['', 400],
    ['{"intake":', 400],
  ])('answers %j with %d', async (body, status) => {
    const { page, errors } = watched({ allowUpdate: true });
    const answer = await page.fetch(post('update', typeof body === 'string' ? body : JSON.stringify(body)));
    expect(answer.status).toBe(status);
    expect(errors).toEqual([]);
  });

  it('takes a body of 64 KiB and no larger one', async () => {
    const { page } = watched({ allowUpdate: true });
    const shell = JSON.stringify({ intake: 'intake', options: {}, padding: '' });
    const fitting = shell.replace('""', `"${'x'.repeat(65_536 - shell.length)}"`);
    expect((await page.fetch(post('update', fitting))).status).toBe(200);
    const answer = await page.fetch(post('update', `${fitting} `));
    expect(answer.status).toBe(413);
    expect((await problemOf(answer)).code).toBe('TOO_LARGE');
  });

  it('stops reading an endless body', async () => {
    const { page } = watched({ allowUpdate: true });
    let given = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        given += 1024;
        controller.enqueue(new Uint8Array(1024));
      },
    });
    const { headers } = post('update', {});
    const request = new Request('http://ops.example/update', {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    });
    expect((await page.fetch(request)).status).toBe(413);
    expect(given).toBeLessThan(70_000);
  });

  it.each(['__proto__', 'constructor', '<script>alert(1)</script>', '🙈'.repeat(128), ''])(
    'finds an intake of the name %j',
    async (name) => {
      const intake = createIntake();
      const { page } = watched({ intakes: Object.fromEntries([[name, intake]]), allowUpdate: true });
      const answer = await page.fetch(post('update', { intake: name, options: { capacity: 5 } }));
      expect(answer.status).toBe(200);
      expect(intake.snapshot().capacity).toBe(5);
      expect(Object.keys((await stateOf(page)).intakes)).toEqual([name]);
    },
  );

  it('passes each change to onChange with its request', async () => {
    const seen: [Change, string][] = [];
    const onChange = (change: Change, request: Request): void => {
      seen.push([change, request.headers.get('x-user') ?? '']);
    };
    const { page } = watched({ allowUpdate: true, onChange });
    const body = { intake: 'intake', options: { capacity: 5 } };
    await page.fetch(post('update', body, { 'x-user': 'ada' }));
    await page.fetch(post('update', { intake: 'intake', options: { capacity: 0 } }, { 'x-user': 'bob' }));
    expect(seen).toEqual([
      [{ at: expect.any(Number) as number, kind: 'intake', name: 'intake', options: { capacity: 5 } }, 'ada'],
    ]);
  });

  it('is made even if onChange fails', async () => {
    const { page, intake, errors } = watched({
      allowUpdate: true,
      onChange: () => Promise.reject(new Error('The audit log is full.')),
    });
    const answer = await page.fetch(post('update', { intake: 'intake', options: { capacity: 5 } }));
    expect(answer.status).toBe(200);
    expect(intake.snapshot().capacity).toBe(5);
    expect(errors).toEqual([new Error('The audit log is full.')]);
  });
});
