import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { answer } from '../pinned.ts';
import { processorSeconds } from '../processor-time.ts';
import * as expressVariants from './express.ts';
import * as fastifyVariants from './fastify.ts';
import * as honoVariants from './hono.ts';
import * as koaVariants from './koa.ts';
import * as nodeVariants from './node.ts';
import type { Variant } from './servers.ts';

const variants: Record<string, Record<string, Variant>> = {
  'express/pass': expressVariants.pass,
  'express/refuse': expressVariants.refuse,
  'koa/pass': koaVariants.pass,
  'koa/refuse': koaVariants.refuse,
  'hono/pass': honoVariants.pass,
  'hono/refuse': honoVariants.refuse,
  'node/pass': nodeVariants.pass,
  'front/refuse': nodeVariants.front,
  'fastify/pass': fastifyVariants.pass,
};

const [group = '', side = ''] = process.argv.slice(2);

async function start(): Promise<number> {
  const variant = variants[group]?.[side];
  if (variant === undefined) throw new Error(`There is no side ${side} in ${group}.`);
  const made = variant();
  if (typeof made !== 'function') return (await made).port;
  const server = createServer(made).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

answer((question: 'start' | 'used') => (question === 'start' ? start() : processorSeconds()));
