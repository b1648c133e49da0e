export const KINDS = ['without', 'empty', 'ours'] as const;
/** Without a middleware, with one that only calls the next handler, and with ours. */
export type Kind = (typeof KINDS)[number];

/** Processor time of one delivery in process, in microseconds: the least of all rounds. */
export interface Passing {
  /** With ours. */
  readonly ours: number;
  /** Without a middleware. */
  readonly base: number;
  /** What ours adds. */
  readonly added: number;
  /** What a middleware adds that only calls the next handler. */
  readonly empty: number;
  readonly ratio: number;
  /** The smallest and the largest ratio of a round. */
  readonly min: number;
  readonly max: number;
  readonly unit: 'µs';
}

/**
 * What is measured on which version of Node, with what ours is to add at the most, in microseconds. `web` is called directly with a
 * request, `web-without-context` in a runtime that has no AsyncLocalStorage.
 */
export interface Passes {
  readonly name: string;
  readonly framework: string;
  readonly node: number;
  readonly target: number;
}

export const passings: readonly Passes[] = [
  { framework: 'express', node: 20, target: 6 },
  { framework: 'web', node: 20, target: 12 },
  { framework: 'web-without-context', node: 20, target: 12 },
  ...[24, 26].flatMap((node) => [
    { framework: 'express', node, target: 1.5 },
    { framework: 'fastify', node, target: 1.2 },
    { framework: 'koa', node, target: 1.5 },
    { framework: 'hono', node, target: 3 },
    { framework: 'node', node, target: 1.2 },
    { framework: 'web', node, target: 2 },
    { framework: 'web-without-context', node, target: 2 },
    { framework: 'web-on-node-server', node, target: 6 },
  ]),
].map((one) => ({ ...one, name: `passing/${one.framework}@node=${String(one.node)}` }));

const IN_SENTENCE: readonly (readonly [framework: string, where: string])[] = [
  ['express', 'in Express'],
  ['fastify', 'in Fastify'],
  ['koa', 'in Koa'],
  ['node', 'on node:http'],
  ['web', 'around a web-standard handler'],
];

/** What the FAQ says of it: what has been measured on Node 24. */
export function passingSentence(results: Readonly<Record<string, { readonly added?: number }>>): string {
  const costs = IN_SENTENCE.flatMap(([framework, where]) => {
    const added = results[`passing/${framework}@node=24`]?.added;
    return added === undefined ? [] : [`${added.toFixed(1)} µs ${where}`];
  });
  return `${costs.slice(0, -1).join(', ')} and ${costs.at(-1) ?? ''}`;
}
