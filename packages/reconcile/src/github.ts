import { checkBoolean, checkNames, isRecord, parseUrl } from '@webhook-backpressure/base';
import {
  Api,
  apiError,
  baseUrlOf,
  checkedCredential,
  checkStrings,
  isRecords,
  PageWatch,
  parsed,
  Unauthorized,
} from './api.ts';
import type { Credential, EventContent, FoundEvent, Source, SourceTools } from './source.ts';

/** Options of {@link github}. */
export interface GitHubOptions {
  /**
   * A token that may read the webhooks: `read:repo_hook` or `admin:org_hook`, or fine-grained "Webhooks: read" (write with
   * `redeliver`). For the hook of an App, a function that returns a new JWT of the App, called for each request.
   */
  token: Credential | undefined;
  /**
   * The hook in the form of GitHub's API, or up to 100 of them: `/repos/OWNER/REPO/hooks/ID`, `/orgs/ORG/hooks/ID`, or
   * `/app/hook` for the App of the token.
   */
  hook: string | readonly string[];
  /**
   * Whether GitHub is asked to deliver a missed event again, instead of fetching it. For an inbox whose `keyGenerator` or
   * `context` needs the request itself, or whose handlers need the signed bytes. Default false.
   */
  redeliver?: boolean | undefined;
  /** The API of GitHub Enterprise Server: `https://HOST/api/v3`. Default `https://api.github.com`. */
  baseUrl?: string | undefined;
}

const NAMES: readonly (keyof GitHubOptions)[] = ['token', 'hook', 'redeliver', 'baseUrl'];
const HOOK = /^(?:\/repos\/[\w.-]+\/[\w.-]+\/hooks\/\d+|\/orgs\/[\w.-]+\/hooks\/\d+|\/app\/hook)$/;
const CODE = 'ERR_WBP_RECONCILE_SOURCE';
/** Failed deliveries are kept in memory until their list ends, because the oldest of them comes last. */
const MAX_KEPT = 100_000;

/** A delivery of the list. */
interface Listed {
  readonly id: string;
  readonly guid: string;
  readonly event: string;
  readonly at: Date;
  readonly isRedelivery: boolean;
  readonly isDelivered: boolean;
}

/**
 * The deliveries of webhooks that GitHub has attempted and that had no answer of 2xx, the oldest first. GitHub never retries
 * them, and lists them for three days. A list of 100 costs a request, and so does each event that the inbox does not have. A hook whose list
 * fails does not stop the others.
 *
 * Source: docs.github.com, REST API, "repository webhooks", "organization webhooks" and "GitHub App webhooks": deliveries;
 * "handling failed webhook deliveries".
 *
 * @throws BackpressureError `ERR_WBP_RECONCILE_SOURCE` or `ERR_WBP_UNKNOWN_OPTION` for invalid options.
 */
export function github(options: GitHubOptions): Source {
  checkNames(options, 'github()', NAMES, CODE);
  const { token, hook, redeliver = false, baseUrl = 'https://api.github.com' } = options;
  const credential = checkedCredential(token, 'token');
  const hooks = typeof hook === 'string' ? [hook] : hook;
  checkStrings('hook', hooks, HOOK, 100, 'paths such as "/repos/OWNER/REPO/hooks/ID"');
  checkBoolean(CODE, 'redeliver', redeliver);
  const api = new Api(baseUrlOf(baseUrl), credential, {
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
  });
  return async function* (since, tools) {
    const errors: unknown[] = [];
    for (const one of hooks) {
      try {
        yield* missedOf({ api, hook: one, redeliver }, since, tools);
      } catch (error) {
        tools.signal.throwIfAborted();
        errors.push(error);
        if (error instanceof Unauthorized) break;
      }
    }
    if (errors.length > 0) throw errors[0];
  };
}

interface Hook {
  readonly api: Api;
  readonly hook: string;
  readonly redeliver: boolean;
}

async function* missedOf(of: Hook, since: Date, tools: SourceTools): AsyncGenerator<FoundEvent> {
  /** Redeliveries that succeeded: they come before the attempts that failed. */
  const redelivered = new Set<string>();
  const failed = new Map<string, Listed>();
  try {
    for await (const page of pagesOf(of, tools)) {
      for (const delivery of page) {
        const { guid, isDelivered, isRedelivery, at } = delivery;
        if (isDelivered && isRedelivery) redelivered.add(guid);
        if (!isDelivered && at >= since && !redelivered.has(guid)) failed.set(guid, delivery);
      }
      // Attempts that ended later may come before others, so one that is older ends nothing.
      if (page.length > 0 && page.every(({ at }) => at < since)) break;
      if (failed.size >= MAX_KEPT) yield* drained(failed, of, tools);
    }
  } finally {
    // After the failure of a later page as well: the list may never be whole.
    yield* drained(failed, of, tools);
  }
}

function* drained(failed: Map<string, Listed>, of: Hook, tools: SourceTools): Generator<FoundEvent> {
  const oldestFirst = [...failed.values()].sort((one, other) => one.at.getTime() - other.at.getTime());
  failed.clear();
  for (const { id, guid, event, at } of oldestFirst) {
    const headers = { 'x-github-delivery': guid, 'x-github-event': event };
    const path = `${of.hook}/deliveries/${id}`;
    const load = (): Promise<EventContent | 'requested'> => loaded(of, path, headers, tools);
    yield { id: guid, at, sender: 'github', headers, load };
  }
}

async function* pagesOf({ api, hook }: Hook, tools: SourceTools): AsyncGenerator<readonly Listed[]> {
  const watch = new PageWatch();
  let url: URL | undefined = api.url(`${hook}/deliveries?per_page=100`);
  while (url !== undefined) {
    const response = await api.call(url, tools);
    // Ids have 64 bits, and JSON.parse would round them.
    const text = (await response.text()).replaceAll(/"id":\s*(\d{16,})/g, '"id":"$1"');
    const items = parsed(text);
    if (!isRecords(items)) throw apiError('The list of deliveries is not a list.');
    const page = items.map(listed);
    if (page[0] !== undefined) watch.note(page[0].id);
    yield page;
    url = nextOf(response.headers.get('link') ?? '', url);
    if (page.length === 0) return;
  }
}

function listed(item: Record<string, unknown>): Listed {
  const { id, guid, event, delivered_at, throttled_at, redelivery, status_code: status } = item;
  const at = new Date(String(delivered_at ?? throttled_at));
  const isWhole = /^\d{1,20}$/.test(String(id)) && typeof guid === 'string' && typeof event === 'string';
  if (!isWhole || Number.isNaN(at.getTime()))
    throw apiError('A delivery of the list has no id, guid, event or delivered_at.');
  const isDelivered = typeof status === 'number' && status >= 200 && status < 300;
  return { id: String(id), guid, event, at, isRedelivery: redelivery === true, isDelivered };
}

/** The URL with `rel="next"`. Source: RFC 8288. */
function nextOf(link: string, base: URL): URL | undefined {
  const [, next] = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(link) ?? [];
  if (next === undefined) return undefined;
  const url = parseUrl(next, base);
  if (url === undefined) throw apiError('The address of the next page is invalid.');
  return url;
}

async function loaded(
  { api, redeliver }: Hook,
  path: string,
  found: Readonly<Record<string, string>>,
  tools: SourceTools,
): Promise<EventContent | 'requested'> {
  if (redeliver) {
    await api.call(api.url(`${path}/attempts`), tools, 'POST');
    return 'requested';
  }
  const response = await api.call(api.url(path), tools);
  return contentOf(parsed(await response.text()), found);
}

function contentOf(delivery: unknown, found: Readonly<Record<string, string>>): EventContent {
  const request = isRecord(delivery) ? delivery['request'] : undefined;
  const { headers: given, payload } = isRecord(request) ? request : {};
  if (!isRecord(payload)) throw apiError('A delivery has no payload.');
  const headers = isRecord(given)
    ? Object.entries(given).flatMap(([name, value]): [string, string][] =>
        typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
      )
    : [];
  const all: Record<string, string> = { ...Object.fromEntries(headers), ...found };
  const json = JSON.stringify(payload);
  // The hook says which of both is sent.
  const isForm = all['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  return { headers: all, body: isForm ? new URLSearchParams({ payload: json }).toString() : json };
}
