import { Elysia } from 'elysia';
import { route } from './suite-route.js';

const app = new Elysia().all('/suite', (context) => route(context), { parse: 'none' });
export const fetch = (request) => app.handle(request);
