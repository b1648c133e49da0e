import app from './entry.js';
import { serveInboxes } from './node-inbox.js';

const nodePort = await serveInboxes();

/** @param {{ port: number }} address */
function announce({ port }) {
  console.log(JSON.stringify({ port, nodePort }));
}

Deno.serve({ port: 0, onListen: announce }, (request, info) => app.fetch(request, info));
