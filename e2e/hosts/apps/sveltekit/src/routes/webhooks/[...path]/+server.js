import { handle } from '../../../web-app.js';

export const GET = handle;
export const POST = handle;
