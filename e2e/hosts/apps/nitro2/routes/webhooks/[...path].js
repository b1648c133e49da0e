import { defineEventHandler, toWebRequest } from 'h3';
import { handle } from '../../web-app.js';

export default defineEventHandler((event) => handle(toWebRequest(event), event));
