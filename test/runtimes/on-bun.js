import app from './app.js';

const { port } = Bun.serve({ port: 0, fetch: (request) => app.fetch(request) });
console.log(JSON.stringify({ port }));
