import { defineHandler } from 'nitro/h3';
import { handle } from '../../web-app.js';

export default defineHandler((event) => handle(event));
