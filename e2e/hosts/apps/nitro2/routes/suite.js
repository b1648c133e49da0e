import { defineEventHandler, toWebRequest } from 'h3';
import { route } from '../suite-route.js';

export default defineEventHandler((event) => route(toWebRequest(event), event));
