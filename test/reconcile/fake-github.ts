import { randomUUID } from 'node:crypto';

/** An attempt to deliver an event, as GitHub keeps it. */
export interface Attempt {
  readonly id: string;
  readonly guid: string;
  readonly event: string;
  readonly deliveredAtMs: number;
  readonly redelivery: boolean;
  readonly statusCode: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

interface FakeGitHubOptions {
  readonly wallMs: () => number;
  /** Sends a delivery, and returns the status of the answer. Default: nothing is reachable. */
  readonly send?: (request: Request) => Promise<number>;
  /** Requests an hour. */
  readonly limit?: number;
  readonly contentType?: string;
}

const HOUR_MS = 3_600_000;
export const HOOK = '/repos/acme/shop/hooks/42';
export const GITHUB = 'https://api.github.com';

/**
 * The API of webhook deliveries, as docs.github.com describes it ("repository webhooks", "rate limits for the REST API",
 * "using pagination in the REST API"): the newest attempt first, a cursor in the Link header, an attempt for each redelivery
 * with the same guid.
 */
export class FakeGitHub {
  token = 'ghp_secret';
  readonly attempts: Attempt[] = [];
  /** `METHOD path` of each request. */
  readonly calls: string[] = [];
  /** Answers instead, if it returns something. */
  trouble: (request: Request) => Response | undefined = () => undefined;
  /** How far its clock is ahead. */
  aheadMs = 0;
  readonly #options: FakeGitHubOptions;
  #used = 0;
  #resetMs = 0;
  #lastId = 138_462_936_853_671_936n;

  constructor(options: FakeGitHubOptions) {
    this.#options = options;
  }

  get wallMs(): number {
    return this.#options.wallMs() + this.aheadMs;
  }

  /** An event happens, and is delivered once. */
  async happen(event: string, payload: Record<string, unknown>, statusCode?: number): Promise<Attempt> {
    return this.#attempt({ guid: randomUUID(), event, payload, redelivery: false }, statusCode);
  }

  /** The request that carries an event. */
  requestOf({ guid, event, payload }: Pick<Attempt, 'guid' | 'event' | 'payload'>): Request {
    const { contentType = 'application/json' } = this.#options;
    const json = JSON.stringify(payload);
    return new Request('https://receiver.example/webhooks', {
      method: 'POST',
      headers: {
        'content-type': contentType,
        'user-agent': 'GitHub-Hookshot/1',
        'x-github-delivery': guid,
        'x-github-event': event,
        'x-github-hook-id': '42',
        'x-github-hook-installation-target-type': 'repository',
      },
      body: contentType === 'application/json' ? json : new URLSearchParams({ payload: json }).toString(),
    });
  }

  readonly fetch: typeof globalThis.fetch = (input, init) => {
    const request = new Request(input, init);
    const { pathname, search } = new URL(request.url);
    this.calls.push(`${request.method} ${pathname}${search}`);
    const given = this.trouble(request) ?? this.#answer(request);
    given.headers.set('date', new Date(this.wallMs).toUTCString());
    return Promise.resolve(given);
  };

  async #attempt(of: Omit<Attempt, 'id' | 'deliveredAtMs' | 'statusCode'>, given?: number): Promise<Attempt> {
    const { send } = this.#options;
    const statusCode = given ?? (await send?.(this.requestOf(of)).catch(() => 502)) ?? 502;
    this.#lastId += 1n;
    const attempt = { ...of, id: String(this.#lastId), deliveredAtMs: this.wallMs, statusCode };
    this.attempts.unshift(attempt);
    return attempt;
  }

  #answer(request: Request): Response {
    const limited = this.#limit();
    const [scheme, token] = request.headers.get('authorization')?.split(' ') ?? [];
    // Octokit sends `token`.
    if (!/^(?:bearer|token)$/i.test(scheme ?? '') || token !== this.token)
      return json(401, {
        message: 'Bad credentials',
        documentation_url: 'https://docs.github.com/rest',
        status: '401',
      });
    if (limited.left < 0) return json(403, { message: 'API rate limit exceeded' }, limited.headers);
    const url = new URL(request.url);
    const list = `${HOOK}/deliveries`;
    const [, id, attempts] = /^\/(\d+)(\/attempts)?$/.exec(url.pathname.slice(list.length)) ?? [];
    if (url.pathname === list && request.method === 'GET') return this.#list(url, limited.headers);
    const one = url.pathname.startsWith(list)
      ? this.attempts.find((attempt) => attempt.id === id)
      : undefined;
    if (one === undefined) return json(404, { message: 'Not Found', status: '404' }, limited.headers);
    if (attempts !== undefined && request.method === 'POST') {
      void this.#attempt({ ...one, redelivery: true });
      return json(202, {}, limited.headers);
    }
    const { headers } = this.requestOf(one);
    return json(
      200,
      {
        ...listed(one),
        url: 'https://receiver.example/webhooks',
        request: { headers: Object.fromEntries(headers), payload: one.payload },
        response: { headers: {}, payload: '' },
      },
      limited.headers,
    );
  }

  #list({ searchParams, origin, pathname }: URL, headers: Record<string, string>): Response {
    const perPage = Math.min(100, Number(searchParams.get('per_page') ?? 30));
    const cursor = searchParams.get('cursor')?.replace('v1_', '');
    const from = cursor === undefined ? 0 : this.attempts.findIndex(({ id }) => id === cursor);
    if (from < 0) return json(422, { message: 'Validation Failed' }, headers);
    const page = this.attempts.slice(from, from + perPage);
    const next = this.attempts[from + perPage];
    const link = `<${origin}${pathname}?per_page=${String(perPage)}&cursor=v1_${next?.id ?? ''}>; rel="next"`;
    return json(200, page.map(listed), next === undefined ? headers : { ...headers, link });
  }

  #limit(): { readonly left: number; readonly headers: Record<string, string> } {
    const { limit = 5000 } = this.#options;
    if (this.wallMs >= this.#resetMs) {
      this.#used = 0;
      this.#resetMs = this.wallMs + HOUR_MS;
    }
    this.#used += 1;
    const left = limit - this.#used;
    const headers = {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(0, left)),
      'x-ratelimit-reset': String(Math.ceil(this.#resetMs / 1000)),
      'x-ratelimit-resource': 'core',
    };
    return { left, headers };
  }
}

/** Ids are numbers of 64 bits. */
function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  const text = JSON.stringify(body).replaceAll(/"id":"(\d+)"/g, '"id":$1');
  return new Response(text, {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  });
}

function listed({ id, guid, event, deliveredAtMs, redelivery, statusCode, payload }: Attempt): object {
  return {
    id,
    guid,
    delivered_at: new Date(deliveredAtMs).toISOString(),
    redelivery,
    duration: 0.27,
    status: statusCode < 300 ? 'OK' : 'failed to connect to host',
    status_code: statusCode,
    event,
    action: payload['action'] ?? null,
    installation_id: null,
    repository_id: 1,
    throttled_at: null,
  };
}
