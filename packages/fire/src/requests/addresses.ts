import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { parseUrl } from '@webhook-backpressure/base';
import { UsageError } from '@webhook-backpressure/planner/parts';

/** The addresses of this machine and of private networks: RFC 1918, RFC 4193, RFC 6598. Not those of cloud metadata. */
const near = new BlockList();
near.addSubnet('127.0.0.0', 8);
near.addSubnet('10.0.0.0', 8);
near.addSubnet('172.16.0.0', 12);
near.addSubnet('192.168.0.0', 16);
near.addSubnet('100.64.0.0', 10);
near.addAddress('::1', 'ipv6');
near.addSubnet('fc00::', 7, 'ipv6');

/** Whether an address is of this machine or of a private network. */
export function isNear(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && near.check(address, version === 6 ? 'ipv6' : 'ipv4');
}

/** Resolves a name to its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export const resolveBySystem: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * Checks a URL before anything is sent. Each connection is checked again, since a name may resolve to another address by then.
 *
 * @param ownHost - the host of a public endpoint that the user owns.
 * @throws UsageError unless it is http or https, without credentials, and its host is near or owned.
 */
export async function checkedUrl(text: string, ownHost: string | undefined, resolve: Resolve): Promise<URL> {
  const url = parseUrl(text);
  if (url === undefined) throw new UsageError(`The URL must be absolute, but was ${JSON.stringify(text)}.`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new UsageError(`The URL must be http or https, but was ${url.protocol}//….`);
  if (url.username !== '' || url.password !== '')
    throw new UsageError('The URL must have no user or password.');
  url.hash = '';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (ownHost !== undefined) {
    if (ownHost === host) return url;
    throw new UsageError(`--i-own must be the host of the URL, ${host}, but was ${JSON.stringify(ownHost)}.`);
  }
  const addresses = isIP(host) === 0 ? await addressesOf(host, resolve) : [host];
  const far = addresses.find((address) => !isNear(address));
  if (far === undefined) return url;
  const found = far === host ? `${host} is` : `${host} has the address ${far}, which is`;
  throw new UsageError(
    `${found} neither of this machine nor of a private network. If it is yours, add --i-own ${host}.`,
  );
}

async function addressesOf(host: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolve(host);
  } catch (error) {
    throw new UsageError(
      `The host ${host} cannot be resolved: ${(error as NodeJS.ErrnoException).code ?? ''}.`,
    );
  }
}
