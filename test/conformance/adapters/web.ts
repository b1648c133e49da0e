import { webhookInbox } from '@webhook-backpressure/web/inbox';
import type { Adapter, InboxDriver, RoutedInbox } from '../adapter.ts';
import { webDriver as driver } from '../web-driver.ts';
import { onNodeServer, type ServeWeb } from '../web-servers.ts';

function inbox(name: string, serveWeb: ServeWeb): InboxDriver {
  return {
    name,
    hasNext: false,
    serve(options, reads, onError) {
      const webhooks = webhookInbox(options);
      const fetch = async (request: Request): Promise<Response> => {
        if (reads) await request.text();
        return webhooks(request).catch((error: unknown) => {
          onError(error);
          return new Response(null, { status: 500 });
        });
      };
      return { listener: serveWeb(fetch), inbox: webhooks.inbox };
    },
  };
}

function routed(name: string, serveWeb: ServeWeb): RoutedInbox {
  return {
    name,
    hasRoutes: false,
    seesSentUrl: false,
    mount({ options }) {
      const webhooks = webhookInbox({
        ...options,
        context: ({ headers }) => ({ from: headers.get('x-from') }),
      });
      return { listener: serveWeb(webhooks), inbox: webhooks.inbox };
    },
  };
}

export const adapters: readonly Adapter[] = ([['web on node-server', onNodeServer]] as const).map(
  ([name, create]) => ({
    driver: driver(name, create),
    inbox: inbox(name, create),
    routed: routed(name, create),
  }),
);
