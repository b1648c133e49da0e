import app from './entry.js';
import { serveInboxes } from './node-inbox.js';

const nodePort = await serveInboxes();
const { port } = Bun.serve({ port: 0, fetch: (request, server) => app.fetch(request, server) });
console.log(JSON.stringify({ port, nodePort }));
