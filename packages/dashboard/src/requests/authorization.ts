import { problem } from '../answers/answers.ts';
import type { Settings } from '../options/dashboard-options.ts';

/** Whether a request may use the page. */
export class Authorization {
  readonly #authorize: Settings['authorize'];
  readonly #onError: (error: unknown) => void;

  constructor(authorize: Settings['authorize'], onError: (error: unknown) => void) {
    this.#authorize = authorize;
    this.#onError = onError;
  }

  /** The answer for a request that may not use the page; undefined for one that may. */
  async refuse(request: Request): Promise<Response | undefined> {
    if (this.#authorize === undefined) return undefined;
    let result: unknown;
    try {
      result = await this.#authorize(request);
    } catch (error) {
      this.#onError(error);
      return problem('FAILED', 'The request could not be authorized.');
    }
    if (result === true) return undefined;
    return result instanceof Response ? uncached(result) : problem('UNAUTHORIZED', 'Unauthorized.');
  }
}

/** The user's own answer, which must not be cached for somebody who is authorized later. */
function uncached(given: Response): Response {
  if (given.headers.has('cache-control')) return given;
  // The headers of a redirect cannot be changed.
  const answer = new Response(given.body, given);
  answer.headers.set('Cache-Control', 'no-store');
  return answer;
}
