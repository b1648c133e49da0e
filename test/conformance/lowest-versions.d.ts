// The lowest versions that we support, under names of their own. What the suite uses of them has the types of the
// highest ones, or none of its own at all.
declare module 'express4' {
  export { default } from 'express';
}
declare module 'koa2' {
  export { default } from 'koa';
}
declare module 'hono40' {
  export { Hono } from 'hono';
}
