import type { Framework } from './frameworks.ts';
import type { Sender, Variable } from './senders.ts';
import type { Store } from './stores.ts';

/** What is chosen for a folder. */
export interface Choices {
  /** The name of its package: as npm accepts it. */
  readonly name: string;
  /** `express`, `fastify`, `koa`, `hono` or `node`. */
  readonly framework: string;
  /** The name of a sender with a ready-made verifier, as in `fire --as`, or `other`. */
  readonly sender: string;
  /** `sqlite`, `postgres` or `memory`. */
  readonly store: string;
}

/** The chosen rows. */
export interface Chosen extends Choices {
  readonly framed: Framework;
  readonly sent: Sender;
  readonly stored: Store;
  /** Those that the server reads beside PORT and PAGE_PASSWORD. */
  readonly variables: readonly Variable[];
}
