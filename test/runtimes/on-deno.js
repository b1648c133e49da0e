import app from './app.js';

/** @param {{ port: number }} address */
function announce({ port }) {
  console.log(JSON.stringify({ port }));
}

Deno.serve({ port: 0, onListen: announce }, (request) => app.fetch(request));
