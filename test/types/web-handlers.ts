// Compiled and never run: handlers as the hosts of web-standard requests declare them, without a cast.
import {
  type BackpressureInfo,
  backpressureOf,
  type Intake,
  type Refusal,
  withBackpressure,
} from '@webhook-backpressure/web';
import { type Inbox, memoryStore, webhookInbox } from '@webhook-backpressure/web/inbox';
import type { Exactly } from '../../e2e/packaging/consumer/exactly.ts';

/** Compiles only for a value of exactly this type. */
function is<Wanted>(): <Given>(
  value: Given,
  ...proof: Exactly<Given, Wanted> extends true ? [] : [never]
) => void {
  return () => undefined;
}

const noContent = (): Response => new Response(null, { status: 204 });

export function onBareRequests(): void {
  const handler = withBackpressure(async (request) => {
    is<Request>()(request);
    is<BackpressureInfo | undefined>()(backpressureOf(request));
    return Promise.resolve(noContent());
  });
  is<Intake>()(handler.intake);
  is<Promise<Response>>()(handler(new Request('http://x/')));
  withBackpressure(noContent, {
    keyGenerator: (request) => request.headers.get('x-shop') ?? '',
    onRefused: (refusal, request) => {
      is<Refusal>()(refusal);
      is<Request>()(request);
      return new Response(refusal.reason, { status: refusal.status });
    },
  });
  // @ts-expect-error a handler returns a response
  withBackpressure(() => undefined);
  // @ts-expect-error a misspelled option would have no effect
  withBackpressure(noContent, { capcity: 10 });
  // @ts-expect-error a handler is called with a request first
  withBackpressure((url: string) => new Response(url));
}

// As in Next.js.
interface NextRequest extends Request {
  readonly nextUrl: URL;
}
type After = (task: Promise<unknown> | (() => unknown)) => void;

export function onNext(after: After): void {
  const POST = withBackpressure(
    async (request: NextRequest, { params }: { params: Promise<{ tenant: string }> }) => {
      const { tenant } = await params;
      return Response.json({ tenant, path: request.nextUrl.pathname });
    },
    { waitUntil: after },
  );
  const route: (request: NextRequest, context: { params: Promise<{ tenant: string }> }) => Promise<Response> =
    POST;
  route satisfies unknown;
}

// As in SvelteKit.
interface RequestEvent {
  readonly request: Request;
  readonly params: Partial<Record<string, string>>;
  readonly platform: { readonly ctx: { waitUntil(promise: Promise<unknown>): void } } | undefined;
}
type RequestHandler = (event: RequestEvent) => Response | Promise<Response>;

export function onSvelteKit(): void {
  const POST: RequestHandler = withBackpressure(async ({ request, params }) => {
    is<Request>()(request);
    return Promise.resolve(new Response(params['tenant'] ?? (await request.text())));
  });
  const inbox: RequestHandler = webhookInbox({ store: memoryStore(), verify: false });
  [POST, inbox] satisfies unknown;
}

// As in H3 2.
interface H3Event {
  readonly req: Request;
  waitUntil(promise: Promise<unknown>): void;
}

export function onH3(defineHandler: (handler: (event: H3Event) => unknown) => void): void {
  defineHandler(withBackpressure((event) => new Response(event.req.url)));
  defineHandler(webhookInbox({ store: memoryStore(), verify: false }));
}

export function onBun(
  serve: (routes: { POST: (request: Request, server: { port: number }) => unknown }) => void,
) {
  serve({ POST: withBackpressure((request, server) => new Response(request.url + String(server.port))) });
}

// As on Workers.
interface ExecutionContext {
  waitUntil(promise: Promise<unknown>): void;
}
interface ExportedHandler<Env> {
  fetch?(request: Request, env: Env, ctx: ExecutionContext): Response | Promise<Response>;
}

export function onWorkers(): ExportedHandler<{ TOKEN: string }>[] {
  const webhooks = webhookInbox({
    store: memoryStore(),
    verify: false,
    context: (request) => request.headers.get('x-tenant'),
    waitUntil: (promise) => {
      is<Promise<unknown>>()(promise);
    },
  });
  is<Inbox>()(webhooks.inbox);
  return [
    {
      fetch: withBackpressure(async (request, env, ctx) => {
        is<Request>()(request);
        is<string>()(env.TOKEN);
        ctx.waitUntil(Promise.resolve());
        return Promise.resolve(noContent());
      }),
    },
    { fetch: webhooks },
  ];
}
