import {
  eventStream,
  html,
  json,
  LAST_OF_CONNECTION,
  problem,
  Refused,
  refused,
} from '../answers/answers.ts';
import type { OpenPages } from '../events/open-pages.ts';
import { changeEndpoint, updateOptions } from '../levers/changes.ts';
import { listDeadLetters, moveDeadLetters, showDeadLetter } from '../levers/dead-letters.ts';
import type { Outcome } from '../levers/sources.ts';
import type { Settings } from '../options/dashboard-options.ts';
import type { Watch } from '../state/watch.ts';
import { readJsonBody, type Incoming } from './incoming.ts';
import { METHOD_OF, routeOf, type Route } from './route.ts';
import { refuseOtherOrigins, refuseOtherSenders } from './same-origin.ts';

type Lever = Extract<Route, 'update' | 'endpoint' | 'redrive' | 'purge'>;

/** Answers the requests of the page. */
export class Handler {
  readonly #settings: Settings;
  readonly #watch: Watch;
  readonly #pages: OpenPages;
  #isClosed = false;

  constructor(settings: Settings, watch: Watch, pages: OpenPages) {
    this.#settings = settings;
    this.#watch = watch;
    this.#pages = pages;
  }

  /** Answers further requests with 503. */
  close(): void {
    this.#isClosed = true;
  }

  /** Never rejects. */
  async handle(incoming: Incoming): Promise<Response> {
    try {
      return (await this.#unauthorized(incoming.request)) ?? (await this.#answer(incoming));
    } catch (error) {
      if (error instanceof Refused) return error.answer;
      this.#settings.onError(error);
      return problem('FAILED', 'The request failed.');
    }
  }

  async #answer(incoming: Incoming): Promise<Response> {
    const { request, path, isBelowMount } = incoming;
    const route = routeOf(path, isBelowMount);
    if (route === undefined) throw refused('NOT_FOUND', 'There is nothing at this path.');
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    if (method !== METHOD_OF[route]) {
      const allow = METHOD_OF[route] === 'GET' ? 'GET, HEAD' : 'POST';
      throw refused('METHOD_NOT_ALLOWED', `The method must be ${allow}.`, { Allow: allow });
    }
    if (this.#isClosed) throw refused('CLOSED', 'The dashboard is closed.');
    const settings = this.#settings;
    if (route !== 'page') refuseOtherOrigins(request);
    const query = (): URLSearchParams => new URL(request.url).searchParams;
    switch (route) {
      case 'page':
        return html();
      case 'state':
        return json(this.#watch.now, 200, LAST_OF_CONNECTION);
      case 'events':
        return this.#events(incoming);
      case 'dead':
        return json(await listDeadLetters(query(), settings, settings.clock));
      case 'dead/item':
        return json(await showDeadLetter(query(), settings));
      default:
        return await this.#pull(route, incoming);
    }
  }

  #events({ request, isServing }: Incoming): Response {
    const pages = this.#pages;
    if (request.method === 'HEAD') return eventStream(null);
    if (pages.isFull) {
      throw refused('TOO_MANY_PAGES', 'Too many pages are open.', { 'Retry-After': '10' });
    }
    const isAllowed = async (): Promise<boolean> => (await this.#unauthorized(request)) === undefined;
    const page = pages.open({ isServing, isAllowed });
    return eventStream(page.body);
  }

  async #pull(lever: Lever, incoming: Incoming): Promise<Response> {
    const settings = this.#settings;
    const watch = this.#watch;
    if (!settings.allowUpdate) {
      throw refused('READ_ONLY', 'Changes need the option allowUpdate: true of the dashboard.');
    }
    refuseOtherSenders(incoming.request);
    const body = await readJsonBody(incoming);
    const { answer, change } = await pull(lever, body, settings, watch);
    if (change !== undefined) {
      const made = { at: Date.now(), ...change };
      watch.note(made);
      try {
        await settings.onChange(made, incoming.request);
      } catch (error) {
        // The change is made, so a failing audit log does not change the answer.
        settings.onError(error);
      }
    }
    return json(answer);
  }

  /** The answer for a request that may not use the page; undefined for one that may. Never rejects. */
  async #unauthorized(request: Request): Promise<Response | undefined> {
    const { authorize, onError } = this.#settings;
    if (authorize === undefined) return undefined;
    try {
      const result: unknown = await authorize(request);
      if (result === true) return undefined;
      return result instanceof Response ? uncached(result) : problem('UNAUTHORIZED', 'Unauthorized.');
    } catch (error) {
      onError(error);
      return problem('FAILED', 'The request could not be authorized.');
    }
  }
}

async function pull(
  lever: Lever,
  body: Readonly<Record<string, unknown>>,
  settings: Settings,
  watch: Watch,
): Promise<Outcome> {
  if (lever === 'update') return updateOptions(body, settings, watch);
  if (lever === 'endpoint') return await changeEndpoint(body, settings);
  return await moveDeadLetters(lever, body, settings, settings.clock);
}

/**
 * The user's own answer, which must not be cached for somebody who is authorized later. It is copied, since `authorize`
 * may return the same object for each request, and a body can be sent only once.
 */
function uncached(given: Response): Response {
  const copy = given.clone();
  if (copy.headers.has('cache-control')) return copy;
  // The headers of a redirect cannot be changed.
  const answer = new Response(copy.body, copy);
  answer.headers.set('Cache-Control', 'no-store');
  return answer;
}
