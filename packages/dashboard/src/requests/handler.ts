import { html, json, problem } from '../answers/answers.ts';
import { LAST_OF_CONNECTION } from '../answers/security-headers.ts';
import { eventStream } from '../events/event-stream.ts';
import type { OpenPages } from '../events/open-pages.ts';
import { changeEndpoint } from '../levers/change-endpoint.ts';
import { listDeadLetters, showDeadLetter } from '../levers/dead-letters.ts';
import { moveDeadLetters } from '../levers/move-dead-letters.ts';
import { updateOptions } from '../levers/update-options.ts';
import type { Settings } from '../options/dashboard-options.ts';
import type { Change } from '../state/page-state.ts';
import type { Watch } from '../state/watch.ts';
import { Authorization } from './authorization.ts';
import type { Incoming } from './incoming.ts';
import { readJsonBody } from './json-body.ts';
import { METHOD_OF, routeOf, type Route } from './route.ts';
import { refuseOtherOrigins, refuseOtherSenders } from './same-origin.ts';

export interface HandlerParts {
  readonly settings: Settings;
  readonly watch: Watch;
  readonly pages: OpenPages;
  readonly wallMs: () => number;
  readonly onError: (error: unknown) => void;
}

type Lever = Extract<Route, 'update' | 'endpoint' | 'redrive' | 'purge'>;
interface Outcome {
  readonly answer: Response;
  readonly change?: Change | undefined;
}

/** Answers the requests of the page. */
export class Handler {
  readonly #parts: HandlerParts;
  readonly #authorization: Authorization;
  #isClosed = false;

  constructor(parts: HandlerParts) {
    this.#parts = parts;
    this.#authorization = new Authorization(parts.settings.authorize, parts.onError);
  }

  /** Answers further requests with 503. */
  close(): void {
    this.#isClosed = true;
  }

  /** Never rejects. */
  async handle(incoming: Incoming): Promise<Response> {
    try {
      return (await this.#authorization.refuse(incoming.request)) ?? (await this.#answer(incoming));
    } catch (error) {
      this.#parts.onError(error);
      return problem('FAILED', 'The request failed.');
    }
  }

  async #answer(incoming: Incoming): Promise<Response> {
    const { request, path, isBelowMount } = incoming;
    const route = routeOf(path, isBelowMount);
    if (route === undefined) return problem('NOT_FOUND', 'There is nothing at this path.');
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    if (method !== METHOD_OF[route]) {
      const allow = METHOD_OF[route] === 'GET' ? 'GET, HEAD' : 'POST';
      return problem('METHOD_NOT_ALLOWED', `The method must be ${allow}.`, { Allow: allow });
    }
    if (this.#isClosed) return problem('CLOSED', 'The dashboard is closed.');
    const { watch, settings } = this.#parts;
    const refusal = route === 'page' ? undefined : refuseOtherOrigins(request);
    if (refusal !== undefined) return refusal;
    const query = (): URLSearchParams => new URL(request.url).searchParams;
    switch (route) {
      case 'page':
        return html();
      case 'state':
        return json(watch.now, 200, LAST_OF_CONNECTION);
      case 'events':
        return this.#events(incoming);
      case 'dead':
        return await listDeadLetters(query(), settings);
      case 'dead/item':
        return await showDeadLetter(query(), settings);
      default:
        return await this.#pull(route, incoming);
    }
  }

  #events({ request, isServing }: Incoming): Response {
    const { pages } = this.#parts;
    if (request.method === 'HEAD') return eventStream(null);
    if (pages.isFull) {
      return problem('TOO_MANY_PAGES', 'Too many pages are open.', { 'Retry-After': '10' });
    }
    const isAllowed = async (): Promise<boolean> => (await this.#authorization.refuse(request)) === undefined;
    const page = pages.open({ isServing, isAllowed });
    return eventStream(page.body);
  }

  async #pull(lever: Lever, incoming: Incoming): Promise<Response> {
    const { watch, settings, wallMs } = this.#parts;
    if (!settings.allowUpdate) {
      return problem('READ_ONLY', 'Changes need the option allowUpdate: true of the dashboard.');
    }
    const refusal = refuseOtherSenders(incoming.request);
    if (refusal !== undefined) return refusal;
    const body = await readJsonBody(incoming);
    if (body instanceof Response) return body;
    if (lever === 'update') {
      const { answer, change } = updateOptions(body, settings, watch);
      return await this.#audited({ answer, change }, incoming.request);
    }
    const { clock } = settings;
    const outcome =
      lever === 'endpoint'
        ? await changeEndpoint(body, settings, wallMs)
        : await moveDeadLetters({ action: lever, body, sources: settings, clock, wallMs });
    if (outcome.change !== undefined) watch.note(outcome.change);
    return await this.#audited(outcome, incoming.request);
  }

  /** The change is made, so a failing audit log does not change the answer. */
  async #audited({ answer, change }: Outcome, request: Request): Promise<Response> {
    if (change === undefined) return answer;
    try {
      await this.#parts.settings.onChange(change, request);
    } catch (error) {
      this.#parts.onError(error);
    }
    return answer;
  }
}
