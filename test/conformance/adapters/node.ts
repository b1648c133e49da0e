import { text } from 'node:stream/consumers';
import { withBackpressure, type RequestListener } from '@webhook-backpressure/node';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import type { Adapter, InboxDriver, RoutedInbox } from '../adapter.ts';
import { around } from '../around.ts';
import { translated, type Driver } from '../exchange.ts';
import { askedOf, nodeExchange } from '../node-exchange.ts';

const driver: Driver = {
  name: 'node:http',
  hasNext: false,
  cutsBrokenStreams: true,
  seesConnection: true,
  answersForHandlers: false,
  serve({ options, handle, isMountedTwice, ...host }) {
    const mount = (listener: RequestListener): ReturnType<typeof withBackpressure> =>
      withBackpressure(listener, translated(options, askedOf, nodeExchange));
    const once = mount((req, res) => handle(nodeExchange(req, res)));
    const listener = isMountedTwice ? mount(once) : once;
    return { listener: around(listener, host), intake: listener.intake };
  },
};

const inbox: InboxDriver = {
  name: 'node:http',
  hasNext: false,
  serve(options, reads) {
    const webhooks = webhookInbox(options);
    const listener: RequestListener = (req, res) => {
      if (reads)
        void text(req).then(() => {
          webhooks(req, res);
        });
      else webhooks(req, res);
    };
    return { listener, inbox: webhooks.inbox };
  },
};

const routed: RoutedInbox = {
  name: 'node:http',
  hasRoutes: false,
  seesSentUrl: true,
  mount({ options }) {
    const webhooks = webhookInbox({ ...options, context: ({ headers }) => ({ from: headers['x-from'] }) });
    return { listener: webhooks, inbox: webhooks.inbox };
  },
};

export const adapters: readonly Adapter[] = [{ driver, inbox, routed }];
