import { checkNames, isRecord } from '@webhook-backpressure/base';
import {
  Api,
  apiError,
  baseUrlOf,
  checkedCredential,
  checkStrings,
  isRecords,
  PageWatch,
  parsed,
} from './api.ts';
import type { Credential, FoundEvent, Source } from './source.ts';

/** Options of {@link stripe}. */
export interface StripeOptions {
  /** A secret key, or a restricted key that may read events; or a function that returns it. */
  secretKey: Credential | undefined;
  /**
   * The types of events that your endpoint gets, 1 to 20, such as `invoice.paid`. Stripe lists what could not be delivered to
   * any endpoint of the account, so without it the inbox also gets events that another endpoint has missed. Default: all.
   */
  types?: readonly string[] | undefined;
  /** Default `https://api.stripe.com`. */
  baseUrl?: string | undefined;
}

const NAMES: readonly (keyof StripeOptions)[] = ['secretKey', 'types', 'baseUrl'];

/**
 * The events that Stripe could not deliver to an endpoint, or has not delivered yet, the newest first. Stripe retries for three
 * days, and lists events for 30 days. A list of 100 costs a request. Events of connected accounts are not listed.
 *
 * Source: docs.stripe.com, "process undelivered webhook events", and API reference, "list all events".
 *
 * @throws BackpressureError `ERR_WBP_RECONCILE_SOURCE` or `ERR_WBP_UNKNOWN_OPTION` for invalid options.
 */
export function stripe(options: StripeOptions): Source {
  checkNames(options, 'stripe()', NAMES, 'ERR_WBP_RECONCILE_SOURCE');
  const { secretKey, types, baseUrl = 'https://api.stripe.com' } = options;
  const credential = checkedCredential(secretKey, 'secretKey');
  if (types !== undefined) checkStrings('types', types, /^[a-z0-9_.]{1,100}$/, 20, 'names of event types');
  const api = new Api(baseUrlOf(baseUrl), credential, {});
  return async function* (since, tools): AsyncGenerator<FoundEvent> {
    const watch = new PageWatch();
    const url = api.url('/v1/events');
    const { searchParams: query } = url;
    query.set('delivery_success', 'false');
    query.set('limit', '100');
    query.set('created[gte]', String(Math.max(0, Math.floor(since.getTime() / 1000))));
    for (const type of types ?? []) query.append('types[]', type);
    for (;;) {
      const page = parsed(await (await api.call(url, tools)).text());
      const { data, has_more: hasMore } = isRecord(page) ? page : {};
      if (!isRecords(data)) throw apiError('The list of events has no data.');
      const events = data.map(foundEvent);
      const [first] = events;
      if (first !== undefined) watch.note(first.id);
      yield* events;
      if (hasMore !== true || first === undefined) return;
      query.set('starting_after', events.at(-1)?.id ?? '');
    }
  };
}

function foundEvent(event: Record<string, unknown>): FoundEvent {
  const { id, created } = event;
  if (typeof id !== 'string' || typeof created !== 'number')
    throw apiError('An event of the list has no id or created.');
  // Webhooks have the same JSON with the same indentation. The list cannot say whose signature is valid.
  const body = JSON.stringify(event, null, 2);
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { id, at: new Date(created * 1000), sender: 'stripe', headers, body };
}
