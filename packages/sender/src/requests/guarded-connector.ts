import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { ForbiddenAddress } from './failures.ts';

type Resolved = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** Resolves a name to all of its addresses, like `dns.lookup` with `all`. */
export type Resolve = (hostname: string, callback: Resolved) => void;

export const resolveBySystem: Resolve = (hostname, callback) => {
  systemLookup(hostname, { all: true }, callback);
};

/**
 * Opens connections to allowed addresses only. The addresses that are checked are those that are connected to, so a name
 * cannot change between check and use.
 *
 * @param connectTimeoutMs - how long a connection may take to open.
 */
export function guardedConnector(
  resolve: Resolve,
  isAllowed: (address: string) => boolean,
  connectTimeoutMs: number,
): buildConnector.connector {
  const lookup = guardedLookup(sharing(resolve), isAllowed);
  const connect = buildConnector({ timeout: connectTimeoutMs, lookup });
  return (options, callback) => {
    // No lookup is made for an address.
    if (isIP(options.hostname) && !isAllowed(options.hostname)) callback(new ForbiddenAddress(), null);
    else connect(options, callback);
  };
}

function guardedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname, (error, addresses) => {
      const allowed = error ? [] : addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (!first) callback(error ?? new ForbiddenAddress(), '');
      else if (all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** A lookup takes one of four threads that the process has for such work, so connections to one name share it. */
function sharing(resolve: Resolve): Resolve {
  const waiting = new Map<string, Resolved[]>();
  return (hostname, callback) => {
    const others = waiting.get(hostname);
    if (others) {
      others.push(callback);
      return;
    }
    const callbacks = [callback];
    waiting.set(hostname, callbacks);
    resolve(hostname, (error, addresses) => {
      waiting.delete(hostname);
      for (const one of callbacks) one(error, addresses);
    });
  };
}
