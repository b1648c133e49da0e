import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bury, claim, delivery, opened, put, START } from '../inbox/store/cases/store-fixtures.ts';
import { jsonOf, type ToolBed } from './tool-bed.ts';

/** The commands that list, show and move dead letters, on any store. */
export function deadLettersSuite(name: string, create: () => ToolBed): void {
  describe(`the tool ${name}`, () => {
    let bed: ToolBed;
    const tool = (...args: readonly string[]) => bed.tool(...args);
    const json = (...args: readonly string[]) => jsonOf(bed, ...args);

    beforeEach(async () => {
      bed = create();
      const store = await opened(bed);
      await put(store, [delivery('waiting')]);
      await claim(store, 1);
      await bury(store, 'first', START + 1);
      await put(store, [delivery('evil\u001b[2J', { rawBody: new Uint8Array([0xff, 0xfe]) })], {
        isOverflow: true,
        nowMs: START + 2,
      });
      await store.close(START + 3);
    });
    afterEach(() => bed.dispose());

    describe('dead', () => {
      it('lists dead letters, oldest first, and escapes control characters', async () => {
        const { code, out } = await tool('dead');
        expect(code).toBe(0);
        const [head, first, second] = out.split('\n');
        expect(head).toMatch(/^ID +KEY +REASON +ATTEMPTS/);
        expect(first).toMatch(/^first +shop +dead +1 .* it failed$/);
        expect(second).toMatch(/^evil\\u001b\[2J +shop +overflow +0/);
        expect(out).not.toContain('\u001b');
      });

      it('lists at most --limit lines, and counts the others', async () => {
        const { out } = await tool('dead', '--limit', '1');
        expect(out).toMatch(/and 1 more\n$/);
        expect(await json('dead', '--limit', '1')).toMatchObject({
          deadLetters: 2,
          deliveries: [{ id: 'first', attempts: 1, error: 'it failed' }],
        });
      });
    });

    describe('show', () => {
      it('prints a delivery with its headers and body', async () => {
        const { out } = await tool('show', 'first');
        expect(out).toContain('content-type: application/json');
        expect(out).toMatch(/\{"id":"first"\}\n$/);
        expect(await json('show', 'first')).toMatchObject({ body: '{"id":"first"}', encoding: 'utf8' });
      });

      it('prints the request, its params, the context and the encryption key', async () => {
        const store = await opened(bed);
        const request = { method: 'POST', url: '/hooks/a\u001b?x', params: { tenant: 'a' } };
        const sealed = { request: { method: '', url: '', params: {} }, headers: {}, sealedBy: 'key-1' };
        const more = [delivery('asked', { request, context: { n: 1 } }), delivery('sealed', sealed)];
        await put(store, more, { isOverflow: true });
        await store.close(START);
        const { out } = await tool('show', 'asked');
        expect(out).toMatch(/^request +POST \/hooks\/a\\u001b\?x$/m);
        expect(out).toMatch(/^params +\{"tenant":"a"\}$/m);
        expect(out).toMatch(/^context +\{"n":1\}$/m);
        expect(await json('show', 'asked')).toMatchObject({
          ...request,
          context: { n: 1 },
          encryptedBy: null,
        });
        expect((await tool('show', 'sealed')).out).toMatch(/^encrypted with +key-1$/m);
        expect(await json('show', 'sealed')).toMatchObject({ encryptedBy: 'key-1' });
      });

      it('prints binary bodies in base64', async () => {
        expect(await json('show', 'evil\u001b[2J')).toMatchObject({ body: '//4=', encoding: 'base64' });
      });
    });

    describe('redrive and purge', () => {
      it('move and delete one dead letter', async () => {
        expect(await json('redrive', 'first')).toEqual({ redriven: 1 });
        expect((await tool('purge', 'evil\u001b[2J')).out).toBe('1 delivery deleted.\n');
        expect(await json('status')).toMatchObject({ depth: 2, deadLetters: 0 });
      });

      it('move and delete all dead letters', async () => {
        expect((await tool('redrive', 'all')).out).toBe('2 deliveries put back into the queue.\n');
        expect(await json('redrive', 'all')).toEqual({ redriven: 0 });
        expect(await json('purge', '--all')).toEqual({ purged: 0 });
        expect(await json('status')).toMatchObject({ depth: 3, deadLetters: 0 });
      });

      it('make a running receiver process the delivery', async () => {
        const store = await opened(bed);
        await claim(store, 1);
        await tool('redrive', 'first');
        const nowMs = Date.now() + 60_000;
        expect((await claim(store, 9, { nowMs })).map(({ id, attempt }) => [id, attempt])).toEqual([
          ['first', 1],
        ]);
        await store.close(nowMs);
      });
    });

    describe('--key', () => {
      it('limits a command to the deliveries of one key', async () => {
        const store = await opened(bed);
        await put(store, [delivery('first', { key: 'other' })], { isOverflow: true, nowMs: START + 9 });
        await store.close(START);
        expect(await json('dead', '--key', 'other')).toMatchObject({
          deadLetters: 1,
          deliveries: [{ id: 'first', key: 'other', bodyBytes: 14 }],
        });
        expect((await tool('dead', '--key', 'none')).out).toBe(
          'There are no dead letters with the key "none".\n',
        );
        expect(await json('show', 'first', '--key', 'other')).toMatchObject({ reason: 'overflow' });
        expect((await tool('show', 'first', '--key', 'none')).err).toBe(
          `There is no delivery "first" with the key "none" in ${bed.noun}.\n`,
        );
        expect(await json('purge', 'first', '--key', 'other')).toEqual({ purged: 1 });
        expect(await json('redrive', 'all', '--key', 'shop')).toEqual({ redriven: 2 });
      });
    });

    it('names an unknown delivery', async () => {
      for (const command of ['redrive', 'purge']) {
        expect(await tool(command, 'waiting')).toEqual({
          code: 1,
          out: '',
          err: 'There is no delivery "waiting" in the dead-letter queue.\n',
        });
      }
      expect((await tool('show', 'unknown')).err).toBe(`There is no delivery "unknown" in ${bed.noun}.\n`);
    });

    it.each([
      [['stats'], /^Unknown command "stats"\. Did you mean "status"\?/],
      [['purge', '--al'], /^Unknown option "--al"\. Did you mean "--all"\?/],
      [['show'], /^show needs the id of a delivery as its first argument\. Example: \S+ show evt_1 \S+\..*/],
      [['redrive'], /^redrive needs the id of a delivery, or "all", as its first argument\. Example: .*/],
      [['dead', 'a'], /^Unexpected argument ".*"\. Usage: \S+ dead \S+\..*/],
      [['dead', '--all'], 'dead does not take --all. Try --help.\n'],
      [['status', '--key', 'k'], 'status does not take --key. Try --help.\n'],
      [['dead', '--limit', '0'], '--limit must be an integer of at least 1, but was "0". Try --help.\n'],
    ])('answers a wrong command line with a sentence: %s', async (args, err) => {
      const ended = await tool(...args);
      expect(ended).toMatchObject({ code: 2, out: '' });
      expect(ended.err).toMatch(err);
      expect(ended.err).toMatch(/^.* Try --help\.\n$/);
    });
  });
}
