import { route } from '../suite-route.js';

export const prerender = false;
export const ALL = route;
