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

  /** The answer for a request that may not use the page; undefined for one that may. Never rejects. */
  async refuse(request: Request): Promise<Response | undefined> {
    if (this.#authorize === undefined) return undefined;
    try {
      const result: unknown = await this.#authorize(request);
      if (result === true) return undefined;
      return result instanceof Response ? uncached(result) : problem('UNAUTHORIZED', 'Unauthorized.');
    } catch (error) {
      this.#onError(error);
      return problem('FAILED', 'The request could not be authorized.');
    }
  }
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
