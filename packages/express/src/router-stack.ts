import type { Application, Request, RequestHandler } from 'express';

/** What Express 4 and 5 have in common inside. */
export interface Stack {
  readonly stack?: readonly Layer[];
}

export interface Layer {
  handle: RequestHandler & Stack & { readonly inbox?: object; readonly intake?: object };
  readonly route?: Stack;
  readonly slash?: boolean;
  readonly regexp?: { readonly fast_slash?: boolean };
}

/**
 * Whether a router of the app passes every request to the handler with this property. A function that calls it has chosen
 * the requests. `req.route` does not say so: it stays set when a route calls `next`.
 */
export function isForWholeApp({ app, baseUrl }: Request, name: 'inbox' | 'intake', owner: object): boolean {
  // A router works without an app too.
  const known = app as Request['app'] | undefined;
  const seen = new Set<readonly Layer[]>();
  const holds = (layers: readonly Layer[] = []): boolean => {
    // A router may be mounted in itself.
    if (seen.has(layers)) return false;
    seen.add(layers);
    // The middleware replaces handlers by functions with the same properties.
    return layers.some(
      (layer) => isForAll(layer) && (layer.handle[name] === owner || holds(layer.handle.stack)),
    );
  };
  return baseUrl === '' && known !== undefined && holds(layersOf(known));
}

/** Whether a layer has no path, in Express 5 and 4. */
function isForAll({ route, slash, regexp }: Layer): boolean {
  return route === undefined && (slash === true || regexp?.fast_slash === true);
}

/** The layers of an app. In Express 4, `router` throws. */
export function layersOf(app: Application): readonly Layer[] | undefined {
  return ((app._router ?? app.router) as Stack | undefined)?.stack;
}
