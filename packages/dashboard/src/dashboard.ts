import { inBackground } from '@webhook-backpressure/base';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { OpenPages } from './events/open-pages.ts';
import { handleNode } from './node/node-handler.ts';
import { settle, type DashboardOptions } from './options/dashboard-options.ts';
import { Handler } from './requests/handler.ts';
import { incomingOf } from './requests/incoming.ts';
import { Watch } from './state/watch.ts';

/** The live page. Its functions can be passed on alone. */
export interface Dashboard {
  /** Answers a web-standard request: for Hono, Bun and Deno. Never rejects. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Answers a request of node:http: for Express, Koa and bare servers. Never throws. */
  readonly node: (req: IncomingMessage, res: ServerResponse) => void;
  /**
   * Ends the page: stops reading its sources, closes open pages, and answers further requests with 503. Closes no intake, no
   * inbox and no sender.
   */
  readonly close: () => void;
}

/**
 * Creates the live page of intakes, inboxes and outboxes. From now on it reads them once a second and keeps the last 15 minutes,
 * so that a page shows them when it is opened. Up to 200 pages can be open.
 *
 * @throws BackpressureError with the code of the first invalid option: `ERR_WBP_DASHBOARD_AUTHORIZE` without `authorize`.
 */
export function dashboard(options: DashboardOptions): Dashboard {
  const settings = settle(options);
  const pages: OpenPages = new OpenPages(() => watch.last);
  const watch = new Watch({
    ...settings,
    onSample: () => {
      pages.sampled();
    },
    // An open stream would keep a server that shuts down waiting until its timeout.
    onClosed: () => {
      pages.closeAll();
    },
    onChange: (change) => {
      pages.send('change', change);
    },
  });
  const handler = new Handler(settings, watch, pages);
  return {
    fetch: (request) => handler.handle(incomingOf(request)),
    node: (req, res) => {
      inBackground(handleNode(handler, req, res, settings.onError));
    },
    close: () => {
      watch.stop();
      pages.end();
      handler.close();
    },
  };
}
