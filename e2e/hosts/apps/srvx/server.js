import { serve } from 'srvx';
import { handle } from './web-app.js';

serve({ port: 0, fetch: handle });
