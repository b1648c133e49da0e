import { H3, serve } from 'h3';
import { handle } from './web-app.js';

serve(new H3().all('/webhooks/**', handle), { port: 0 });
