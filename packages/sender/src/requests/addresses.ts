import { parseUrl } from '@webhook-backpressure/base';
import ipaddr from 'ipaddr.js';

/**
 * Whether a request may go to an address: only to public ones, so that a URL of a customer cannot reach the network behind
 * the sender.
 *
 * @param address - an IP address in any form that `dns.lookup` returns.
 */
export function isPublicAddress(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return isPublicV4(ipaddr.IPv4.parse(address));
  // The library reads `::8.8.8.8`, which is reserved, as the IPv4 address.
  const isOldForm = /^::\d+\./.test(address);
  return !isOldForm && ipaddr.IPv6.isValid(address) && isPublicV6(ipaddr.IPv6.parse(address));
}

// Inside Azure it is the virtual machine's host, although the address is public.
const AZURE_HOST = '168.63.129.16';

function isPublicV4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && address.toString() !== AZURE_HOST;
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** Everything outside of 2000::/3 is reserved, local, or an IPv4 address in another form. */
function isPublicV6(address: ipaddr.IPv6): boolean {
  if (address.zoneId) return false;
  if (address.isIPv4MappedAddress()) return isPublicV4(address.toIPv4Address());
  // In networks without IPv4, DNS returns public IPv4 addresses in this form.
  if (address.match(NAT64)) return isPublicV4(new ipaddr.IPv4(address.toByteArray().slice(12)));
  return address.range() === 'unicast' && address.match(GLOBAL_UNICAST);
}

/**
 * Checks the URL of an endpoint without a DNS query. Names are resolved, and their addresses checked, at each connection.
 *
 * @returns the URL without fragment; or what is wrong with it, as the end of a sentence that begins with "must". It contains
 * no part of the URL, which can hold a secret.
 */
export function endpointUrl(value: unknown, allowPrivateAddresses: boolean): URL | string {
  const url = urlOf(value);
  if (!url) return 'be an absolute URL';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'be an https URL';
  if (url.protocol === 'http:' && !allowPrivateAddresses) {
    return 'be an https URL; allowPrivateAddresses allows http';
  }
  if (url.username || url.password) return 'contain no credentials';
  if (url.port === '0') return 'have a port from 1 to 65,535';
  if (!allowPrivateAddresses && !isPublicHost(url.hostname)) {
    return 'not lead to a private address; allowPrivateAddresses allows that';
  }
  url.hash = '';
  return url;
}

function urlOf(value: unknown): URL | undefined {
  return typeof value === 'string' || value instanceof URL ? parseUrl(String(value)) : undefined;
}

const IP_LIKE = /^[\d.]+$|:/;

/** False for a private address, however it is written: `URL` has made a decimal or octal one canonical. */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  // The library throws internally for names, which takes 0.1 ms.
  if (IP_LIKE.test(host) && ipaddr.isValid(host)) return isPublicAddress(host);
  return !/(?:^|\.)localhost\.?$/i.test(host);
}
