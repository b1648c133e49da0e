import { toNodeHandler } from 'srvx/node';
import { route } from './suite-route.js';

export const listener = toNodeHandler(route);
