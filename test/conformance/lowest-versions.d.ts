// Aliases of the lowest versions that we support. The suite uses them with the types of the highest versions.
declare module 'express4' {
  export { default } from 'express';
}
declare module 'fastify4' {
  export { default } from 'fastify';
}
declare module 'koa2' {
  export { default } from 'koa';
}
declare module 'hono40' {
  export { Hono } from 'hono';
}
