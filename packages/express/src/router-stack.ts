import type { Application, RequestHandler } from 'express';

/** What Express 4 and 5 have in common inside. */
export interface Stack {
  readonly stack?: readonly Layer[];
}

export interface Layer {
  handle: RequestHandler & Stack;
  readonly route?: Stack;
}

/** The layers of an app. In Express 4, `router` throws. */
export function layersOf(app: Application): readonly Layer[] | undefined {
  return ((app._router ?? app.router) as Stack | undefined)?.stack;
}
