import { handle } from '../../../web-app.js';

export const dynamic = 'force-dynamic';
export const GET = handle;
export const POST = handle;
