import { memoryStore } from '@webhook-backpressure/inbox';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import { reconcile, type ReconcileResult, type Source, stripe } from '@webhook-backpressure/reconcile';
import type { Exactly } from './exactly.ts';

export async function main(): Promise<unknown> {
  let handled: (id: string) => void;
  const first = new Promise<string>((resolve) => (handled = resolve));
  const { inbox } = webhookInbox({
    store: memoryStore(),
    verify: false,
    process: ({ id }) => {
      handled(id);
      return Promise.resolve();
    },
  });
  const event = { id: 'evt_1', created: Math.floor(Date.now() / 1000) };
  const source: Source = stripe({ secretKey: 'sk_test_1' });
  const isSource: Exactly<ReturnType<typeof stripe>, Source> = true;
  const reconciler = reconcile({
    inbox,
    source,
    fetch: () => Promise.resolve(Response.json({ data: [event], has_more: false })),
  });
  const result = await reconciler.run();
  const isResult: Exactly<typeof result, ReconcileResult> = true;
  const completed = await first;
  await inbox.close();
  return {
    middleware: { key: 'shop-1', typed: isSource, depth: result.skipped },
    inbox: { status: result.added === 1 ? 200 : 500, completed, typed: isResult },
  };
}
