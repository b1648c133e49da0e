import type { RequestListener } from '@webhook-backpressure/node';
import type { Intake } from '@webhook-backpressure/core';
import type { Inbox, InboxOptions } from '@webhook-backpressure/inbox';
import type { webhookInbox } from '@webhook-backpressure/node/inbox';
import type { Driver } from './exchange.ts';

/** An adapter with its framework in one version, for each suite that all adapters pass. */
export interface Adapter {
  /** For `test/conformance` and `test/servers`. */
  readonly driver: Driver;
  /** For `test/core/inbox`. */
  readonly inbox: InboxDriver;
  /** For `test/core/inbox/delivery`. */
  readonly routed: RoutedInbox;
  /** For `test/frameworks`. None for an adapter without a framework. */
  readonly app?: FrameworkApp;
}

/** An app with an inbox at /webhooks that answers 418 to requests that the inbox passes on. */
interface Served {
  readonly listener: RequestListener;
  readonly inbox: Inbox;
}

export interface InboxDriver {
  readonly name: string;
  /** Whether the framework can pass a request on. */
  readonly hasNext: boolean;
  /** `reads`: another middleware reads the body before the inbox. */
  serve(options: InboxOptions, reads: boolean, onError: (error: unknown) => void): Served;
}

export interface RoutedInbox {
  readonly name: string;
  /** Whether the framework has a router with params. */
  readonly hasRoutes: boolean;
  /** Whether it sees the URL as the sender has sent it. A web-standard request normalizes it. */
  readonly seesSentUrl: boolean;
  /** An app that receives deliveries at /api/:version/hooks/:tenant through a mounted router. */
  readonly mount: (witness: Witness) => { readonly listener: RequestListener; readonly inbox: Inbox };
}

interface Witness {
  readonly options: Parameters<typeof webhookInbox>[0];
}

export interface FrameworkApp {
  readonly name: string;
  /** The app, with the middleware mounted first if there are options. */
  readonly serve: (options?: { intake: Intake; skip: () => boolean; path: string }) => RequestListener;
  /** How many of the requests the framework answers before any middleware. Default none. */
  readonly unseen?: number;
}
