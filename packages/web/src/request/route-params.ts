import type { RequestParts } from '@webhook-backpressure/inbox';
import type { RequestSource } from './request-of.ts';

type Params = RequestParts['params'];

interface WithParams {
  readonly params?: Params | Promise<Params>;
  readonly context?: { readonly params?: Params };
}

/**
 * The route params of the framework: `params` of the first argument (SvelteKit, Astro, Elysia, Bun) or of its `context`
 * (H3), or of the second one, where it can be a promise (Next.js).
 */
export async function routeParamsOf(source: RequestSource, rest: readonly unknown[]): Promise<Params> {
  const first = source as WithParams;
  const second = rest[0] as WithParams | null | undefined;
  const params = await (first.params ?? first.context?.params ?? second?.params);
  return typeof params === 'object' ? params : undefined;
}
