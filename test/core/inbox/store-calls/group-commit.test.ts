import { describe, expect, it } from 'vitest';
import { BackpressureError } from '@webhook-backpressure/base';
import { memoryStore } from '@webhook-backpressure/inbox';
import { GroupCommit } from '@webhook-backpressure/inbox/store';
import { InboxBench, turns } from '../inbox-bench.ts';

/** Commits that end when the test says so. */
function manual(): {
  commits: string[][];
  group: GroupCommit<string, string>;
  end: (error?: Error) => Promise<void>;
} {
  const commits: string[][] = [];
  const ends: ((error?: Error) => void)[] = [];
  const group = new GroupCommit<string, string>(
    (batch) =>
      new Promise((resolve, reject) => {
        commits.push([...batch]);
        ends.push((error) => {
          if (error === undefined) resolve(batch.map((item) => item.toUpperCase()));
          else reject(error);
        });
      }),
  );
  return {
    commits,
    group,
    end: (error) => {
      ends.shift()?.(error);
      return turns();
    },
  };
}

describe('a group commit', () => {
  it('commits the items of one turn together, and returns each its own result', async () => {
    const { commits, group, end } = manual();
    const results = Promise.all(['a', 'b', 'c'].map((item) => group.add(item)));
    await turns();
    expect(commits).toEqual([['a', 'b', 'c']]);
    await end();
    expect(await results).toEqual(['A', 'B', 'C']);
  });

  it('gathers the next batch while a commit runs, and commits a single item alone', async () => {
    const { commits, group, end } = manual();
    const first = group.add('a');
    await turns();
    expect(commits).toEqual([['a']]);
    const rest = ['b', 'c'].map((item) => group.add(item));
    await turns();
    rest.push(group.add('d'));
    await turns();
    expect(commits).toEqual([['a']]);
    await end();
    expect(await first).toBe('A');
    expect(commits).toEqual([['a'], ['b', 'c', 'd']]);
    await end();
    expect(await Promise.all(rest)).toEqual(['B', 'C', 'D']);
    expect(group.isBusy).toBe(false);
  });

  it('fails the items of one batch, and no others', async () => {
    const { group, end } = manual();
    const failed = group.add('a').catch((error: unknown) => error);
    await turns();
    const next = group.add('b');
    await end(new Error('disk full'));
    expect(await failed).toEqual(new Error('disk full'));
    await end();
    expect(await next).toBe('B');
  });

  /** Commits immediately unless an item is bad, and counts its calls. */
  function picky(error: (items: readonly string[]) => Error | undefined): {
    calls: string[][];
    all: (items: readonly string[]) => Promise<unknown[]>;
    group: GroupCommit<string, string>;
  } {
    const calls: string[][] = [];
    const group = new GroupCommit<string, string>((batch) => {
      calls.push([...batch]);
      const thrown = error(batch);
      if (thrown !== undefined) throw thrown;
      return batch.map((item) => item.toUpperCase());
    });
    const all = (items: readonly string[]): Promise<unknown[]> =>
      Promise.all(items.map((item) => group.add(item).catch((refused: unknown) => refused)));
    return { calls, all, group };
  }
  const letters = 'abcdefghijklmnopqrstuvwxyz'.split('');
  const isBad = (bad: string, error: Error) => (items: readonly string[]) =>
    items.some((item) => bad.includes(item)) ? error : undefined;

  it.each(['a', 'm', 'z', 'ay'])(
    'rejects only items that cannot be stored, whatever the error says: %s',
    async (bad) => {
      const error = new TypeError('no such type');
      const { all, calls } = picky(isBad(bad, error));
      const results = await all(letters);
      for (const [at, letter] of letters.entries()) {
        if (bad.includes(letter))
          expect(results[at]).toMatchObject({ code: 'ERR_WBP_STORE_VALUE', cause: error });
        else expect(results[at]).toBe(letter.toUpperCase());
      }
      expect(calls.length).toBeLessThan(20);
    },
  );

  it('rejects every item that cannot be stored when the error says so', async () => {
    const error = new BackpressureError('ERR_WBP_STORE_VALUE', 'No.');
    const bad = 'abcdefghijklmnopqrstuvwxy';
    const results = await picky(isBad(bad, error)).all(letters);
    expect(results).toEqual([...Array.from(bad, () => error), 'Z']);
  });

  it('stops trying soon when no item can be committed', async () => {
    const error = new Error('no connection');
    const { all, calls } = picky(() => error);
    expect(new Set(await all(letters))).toEqual(new Set([error]));
    expect(calls.length).toBeLessThanOrEqual(7);
  });

  it('does not call the store again when the store itself has failed, not even for waiting items', async () => {
    const error = new BackpressureError('ERR_WBP_SQLITE_LOCKED', 'It is locked.');
    const { all, calls } = picky(() => error);
    const many = Array.from({ length: 300 }, (_, at) => String(at));
    expect(new Set(await all(many))).toEqual(new Set([error]));
    expect(calls.map((batch) => batch.length)).toEqual([256]);
  });

  it('bounds a batch by count and by bytes', async () => {
    const { commits, group, end } = manual();
    for (let at = 0; at < 300; at += 1) void group.add(String(at));
    await turns();
    expect(commits[0]).toHaveLength(256);
    await end();
    expect(commits[1]).toHaveLength(44);
    await end();
    for (const item of ['x', 'y', 'z']) void group.add(item, 10 * 1024 * 1024);
    await turns();
    expect(commits[2]).toEqual(['x']);
    await end();
    await end();
    await end();
    expect(commits.slice(2)).toEqual([['x'], ['y'], ['z']]);
  });

  it('rejects the results of a store that returns too few', async () => {
    const group = new GroupCommit<string, string>(() => []);
    await expect(group.add('a')).rejects.toThrow('must return one result');
  });
});

describe('the commits of an inbox', () => {
  it('are shared by deliveries that arrive together, and by handlers that end together', async () => {
    const store = memoryStore();
    const puts: number[] = [];
    const settlements: number[] = [];
    const put = store.put.bind(store);
    const settle = store.settle.bind(store);
    store.put = (batch, options) => {
      puts.push(batch.length);
      return put(batch, options);
    };
    store.settle = (batch, nowMs) => {
      settlements.push(batch.length);
      return settle(batch, nowMs);
    };
    const bench = new InboxBench({ store, concurrency: 50 });
    await Promise.all(Array.from({ length: 50 }, (_, at) => bench.send(String(at))));
    await turns();
    expect(puts).toEqual([50]);
    await Promise.all(bench.calls.map((call) => call.finish()));
    expect(settlements).toEqual([50]);
    expect(bench.inbox.snapshot().totals.completed).toBe(50);
  });
});
