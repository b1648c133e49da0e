import { createInbox, createWorker, type Inbox, type InboxStore } from '@webhook-backpressure/inbox';
import { createSender } from '@webhook-backpressure/sender';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MemoryState, MemoryStore } from './shared-memory.ts';

const BUILDS = [
  {
    framework: 'Next.js',
    name: 'NEXT_PHASE',
    building: 'phase-production-build',
    serving: 'phase-production-server',
  },
  { framework: 'SvelteKit', name: 'SVELTEKIT_FORK', building: 'true', serving: undefined },
];

interface Opened {
  readonly opened: Promise<void>;
  close(): Promise<unknown>;
}

// The modules of routes, which create these, are loaded by a build and by a server.
const CREATE: Record<string, (store: InboxStore, process: () => void) => Opened> = {
  createInbox: (store, process) => createInbox({ store, process, verify: false }),
  'createInbox without process': (store) => createInbox({ store, verify: false }),
  createWorker: (store, process) => createWorker({ store, process }),
  createSender: (store) => createSender({ store, endpoint: () => null }),
};

afterEach(() => {
  vi.unstubAllEnvs();
});

describe.each(BUILDS)('in $framework', ({ name, building, serving }) => {
  it.each(Object.keys(CREATE))('%s opens the store in a server, not in a build', async (create) => {
    const store = new MemoryStore(new MemoryState());
    const open = vi.spyOn(store, 'open');

    vi.stubEnv(name, building);
    const built = CREATE[create]?.(store, () => undefined);
    await built?.opened;
    await built?.close();
    expect(open).not.toHaveBeenCalled();

    vi.stubEnv(name, serving);
    const served = CREATE[create]?.(store, () => undefined);
    await served?.opened;
    expect(open).toHaveBeenCalledOnce();
    await served?.close();
  });

  it('a build processes none of the stored deliveries', async () => {
    const store = new MemoryStore(new MemoryState());
    const receiver = createInbox({ store, verify: false });
    await receive(receiver);
    vi.stubEnv(name, building);
    const process = vi.fn();
    const inbox = createInbox({ store, process, verify: false });
    expect(inbox.snapshot().depth).toBe(0);
    expect(await receive(inbox)).toMatchObject({ status: 503 });
    expect(process).not.toHaveBeenCalled();
    expect((await store.stats()).depth).toBe(1);
    await inbox.close();
  });
});

function receive(inbox: Inbox): ReturnType<Inbox['receive']> {
  return inbox.receive({
    method: 'POST',
    url: '/',
    headers: {},
    source: undefined,
    hint: '',
    read: (body) => {
      body.add(new TextEncoder().encode('{}'));
      return Promise.resolve('whole');
    },
  });
}
