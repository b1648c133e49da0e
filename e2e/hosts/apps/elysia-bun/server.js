import { Elysia } from 'elysia';
import { handle } from './web-app.js';

const { server } = new Elysia().all('/webhooks/*', handle, { parse: 'none' }).listen(0);
console.log(JSON.stringify({ port: server.port }));
