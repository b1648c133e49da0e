import app from './app.js';
import { serveInboxes } from './node-inbox.js';

const nodePort = await serveInboxes();
const { port } = Bun.serve({ port: 0, fetch: (request) => app.fetch(request) });
console.log(JSON.stringify({ port, nodePort }));
