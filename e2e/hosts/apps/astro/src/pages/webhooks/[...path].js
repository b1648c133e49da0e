import { handle } from '../../web-app.js';

export const prerender = false;
export const GET = handle;
export const POST = handle;
