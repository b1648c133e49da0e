// What the entry files use of each runtime.
type Fetch = (request: Request, ...rest: unknown[]) => Response | Promise<Response>;

declare const Bun: { serve(options: { port: number; fetch: Fetch }): { port: number } };
declare const Deno: {
  serve(options: { port: number; onListen: (address: { port: number }) => void }, fetch: Fetch): unknown;
};
