import { H3, toNodeHandler } from 'h3';
import { route } from './suite-route.js';

export const listener = toNodeHandler(new H3().all('/suite', route));
