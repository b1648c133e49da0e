/** An event, as Stripe keeps it. */
export interface StripeEvent {
  readonly id: string;
  readonly object: 'event';
  readonly created: number;
  readonly type: string;
  readonly data: { readonly object: Readonly<Record<string, unknown>> };
}

const DAY_S = 86_400;

/**
 * The list of events, as docs.stripe.com describes it (API reference, "list all events", "pagination", "errors"): the newest
 * first, for 30 days, with cursors that are ids.
 */
export class FakeStripe {
  key = 'sk_test_1';
  /** The newest first. */
  readonly events: StripeEvent[] = [];
  /** Ids of those that were delivered to all endpoints. */
  readonly delivered = new Set<string>();
  readonly calls: string[] = [];
  /** Answers instead, if it returns something. */
  trouble: (request: Request) => Response | undefined = () => undefined;
  readonly #wallMs: () => number;

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  happen(type: string, object: Record<string, unknown> = {}): StripeEvent {
    const id = `evt_${String(this.events.length).padStart(6, '0')}`;
    const event = {
      id,
      object: 'event' as const,
      api_version: '2025-04-30.basil',
      created: Math.floor(this.#wallMs() / 1000),
      data: { object },
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type,
    };
    this.events.unshift(event);
    return event;
  }

  readonly fetch: typeof globalThis.fetch = (input, init) => {
    const request = new Request(input, init);
    const { pathname, searchParams } = new URL(request.url);
    this.calls.push(`${request.method} ${pathname}?${decodeURIComponent(searchParams.toString())}`);
    return Promise.resolve(this.trouble(request) ?? this.#answer(request, searchParams));
  };

  #answer({ url, headers }: Request, query: URLSearchParams): Response {
    if (headers.get('authorization') !== `Bearer ${this.key}`)
      return json(401, { error: { type: 'invalid_request_error', message: 'Invalid API Key provided' } });
    if (new URL(url).pathname !== '/v1/events')
      return json(404, { error: { type: 'invalid_request_error', message: 'Unrecognized request URL' } });
    const from = Math.max(Number(query.get('created[gte]') ?? 0), this.#wallMs() / 1000 - 30 * DAY_S);
    const types = [...query].filter(([name]) => /^types\[\d*\]$/.test(name)).map(([, type]) => type);
    const all = this.events.filter(
      ({ id, created, type }) =>
        created >= from &&
        (types.length === 0 || types.includes(type)) &&
        (query.get('delivery_success') !== 'false' || !this.delivered.has(id)),
    );
    const after = query.get('starting_after');
    const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const limit = Number(query.get('limit') ?? 10);
    const data = all.slice(start, start + limit);
    return json(200, { object: 'list', data, has_more: start + limit < all.length, url: '/v1/events' });
  }
}

function json(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'request-id': 'req_1' },
  });
}
