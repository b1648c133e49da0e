import { route } from '../../suite-route.js';

export const dynamic = 'force-dynamic';
export const GET = route;
export const HEAD = route;
export const OPTIONS = route;
export const POST = route;
