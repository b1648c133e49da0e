import { node } from '@elysiajs/node';
import { Elysia } from 'elysia';
import { handle } from './web-app.js';

new Elysia({ adapter: node() }).all('/webhooks/*', handle, { parse: 'none' }).listen(0);
