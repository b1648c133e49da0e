import { createServer } from 'node:http';
import { listen } from '../listen.ts';
import { answer } from '../pinned.ts';
import { processorSeconds } from '../processor-time.ts';
import type { Variant } from './servers.ts';

/** A server loads its own framework only: the others would take half of the time of a quick look. */
const variants: Record<string, () => Promise<Record<string, Variant>>> = {
  'express/pass': async () => (await import('./express.ts')).pass,
  'express/observed': async () => (await import('./express.ts')).observed,
  'express/refuse': async () => (await import('./express.ts')).refuse,
  'koa/pass': async () => (await import('./koa.ts')).pass,
  'koa/refuse': async () => (await import('./koa.ts')).refuse,
  'hono/pass': async () => (await import('./hono.ts')).pass,
  'hono/refuse': async () => (await import('./hono.ts')).refuse,
  'web/refuse': async () => (await import('./web.ts')).refuse,
  'node/pass': async () => (await import('./node.ts')).pass,
  'front/refuse': async () => (await import('./node.ts')).front,
  'fastify/pass': async () => (await import('./fastify.ts')).pass,
};

const [group = '', side = ''] = process.argv.slice(2);

async function start(): Promise<number> {
  const variant = (await variants[group]?.())?.[side];
  if (variant === undefined) throw new Error(`There is no side ${side} in ${group}.`);
  const made = variant();
  if (typeof made !== 'function') return (await made).port;
  return listen(createServer(made));
}

answer((question: 'start' | 'used') => (question === 'start' ? start() : processorSeconds()));
