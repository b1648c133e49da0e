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

/** What is measured on which version of Node, with what ours is to add at the most, in microseconds. */
export interface Passes {
  readonly name: string;
  readonly framework: string;
  readonly node: number;
  readonly target: number;
}

export const passings: readonly Passes[] = [
  { framework: 'express', node: 20, target: 6 },
  ...[24, 26].flatMap((node) => [
    { framework: 'express', node, target: 1.5 },
    { framework: 'koa', node, target: 1.5 },
    { framework: 'node', node, target: 1.2 },
  ]),
].map((one) => ({ ...one, name: `passing/${one.framework}@node=${String(one.node)}` }));

/** What the README says of it. */
export function passingSentence(results: Readonly<Record<string, { readonly added?: number }>>): string {
  const added = (name: string): string => (results[`passing/${name}`]?.added ?? NaN).toFixed(1);
  return `${added('express@node=24')} µs in Express, ${added('koa@node=24')} µs in Koa and ${added('node@node=24')} µs on node:http`;
}
