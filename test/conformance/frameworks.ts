import express5 from 'express';
import express4 from 'express4';
import fastify5 from 'fastify';
import fastify4 from 'fastify4';
import { Hono as HonoLatest } from 'hono';
import { Hono as Hono40 } from 'hono40';
import Koa3 from 'koa';
import Koa2 from 'koa2';
import { onNodeServer, type ServeWeb } from './web-servers.ts';

/** Creates a driver for each framework. */
export interface Makers<T> {
  readonly node: T;
  readonly express: (name: string, create: typeof express5) => T;
  readonly fastify: (name: string, create: typeof fastify5) => T;
  readonly koa: (name: string, Koa: typeof Koa3) => T;
  readonly hono: (name: string, Hono: typeof HonoLatest) => T;
  /** For handlers of web-standard requests. */
  readonly web: (name: string, serveWeb: ServeWeb) => T;
}

/** Every framework in the lowest and the highest version that we support. */
export function onEvery<T>({ node, express, fastify, koa, hono, web }: Makers<T>): readonly T[] {
  return [
    node,
    express('Express 4.18', express4),
    express('Express 5', express5),
    fastify('Fastify 4.0', fastify4),
    fastify('Fastify 5', fastify5),
    koa('Koa 2.13', Koa2),
    koa('Koa 3', Koa3),
    hono('Hono 4.0', Hono40),
    hono('Hono 4', HonoLatest),
    web('web on node-server', onNodeServer),
  ];
}
