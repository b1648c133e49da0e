import { defineHandler } from 'nitro/h3';
import { route } from '../suite-route.js';

export default defineHandler((event) => route(event));
