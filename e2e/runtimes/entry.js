// What every runtime serves: the receiver with Hono, or without a framework.
import app from './app.js';
import { handle } from './web-app.js';

export default {
  /**
   * @param {Request} request
   * @param {unknown[]} rest the other arguments of the runtime
   */
  fetch(request, ...rest) {
    if (request.headers.get('x-adapter') === 'web') return handle(request, ...rest);
    return app.fetch(request, ...rest);
  },
};
