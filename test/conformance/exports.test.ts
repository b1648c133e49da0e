import * as core from '@webhook-backpressure/core';
import * as express from '@webhook-backpressure/express';
import * as fastify from '@webhook-backpressure/fastify';
import * as hono from '@webhook-backpressure/hono';
import * as honoOnNode from '@webhook-backpressure/hono/node';
import * as koa from '@webhook-backpressure/koa';
import * as node from '@webhook-backpressure/node';
import * as web from '@webhook-backpressure/web';
import { describe, expect, it } from 'vitest';

const { closeOnSignals, processPressure } = node;

// With pnpm an app can import only the packages that it depends on itself.
describe.each([
  ['express', express, express],
  ['fastify', fastify, fastify],
  ['koa', koa, koa],
  ['hono', hono, honoOnNode],
  ['node', node, node],
  // It imports nothing of node: an app on Node also installs that package.
  ['web', web, node],
])('the package %s', (_name, adapter, onNode) => {
  it('exports everything that core exports', () => {
    expect(adapter).toMatchObject(core);
  });

  it('exports what an app on Node needs to shut down and to measure its process', () => {
    expect(onNode).toMatchObject({ closeOnSignals, processPressure });
    expect(adapter.readiness).toBeTypeOf('function');
  });
});
