// Preloaded into the programs of the hosts: they listen on a port that the system chooses, and report it.
import { Server } from 'node:net';

const listen = Reflect.get(Server.prototype, 'listen');

/**
 * @this {Server}
 * @param {unknown[]} args
 */
function listenAnywhere(...args) {
  this.once('listening', () => {
    const address = this.address();
    if (typeof address === 'object') process.stdout.write(`\n${JSON.stringify({ port: address?.port })}\n`);
  });
  const [first, ...rest] = args;
  const options = typeof first === 'object' ? { ...first, port: 0 } : { port: 0 };
  return listen.apply(
    this,
    /** @type {never} */ ([options, ...rest.filter((arg) => typeof arg === 'function')]),
  );
}

Server.prototype.listen = /** @type {typeof listen} */ (listenAnywhere);
