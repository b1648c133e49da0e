import { describe, expect, it } from 'vitest';
import {
  endpointUrl,
  isPublicAddress,
  isPublicHost,
} from '../../../packages/sender/src/requests/addresses.ts';

const PRIVATE = [
  // IPv4: this network, private, shared, loopback, link-local, protocol assignments, documentation, relays, benchmarks.
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200', '100.127.255.255'],
  ...['127.0.0.1', '127.255.255.254', '169.254.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
  ...['192.0.0.1', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.19.255.255'],
  ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  // The host of a virtual machine in Azure.
  '168.63.129.16',
  // IPv6: unspecified, loopback, IPv4 in IPv6, discard, local NAT64, protocols, documentation, 6to4, routing.
  ...[
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:0:7f00:1',
    '::127.0.0.1',
  ],
  ...[
    '::7f00:1',
    '::8.8.8.8',
    '64:ff9b::7f00:1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::808:808',
  ],
  ...['100::1', '100:0:0:1::1', '2001::1', '2001:2::1', '2001:10::1', '2001:20::1', '2001:db8::1'],
  ...['2002:7f00:1::', '2002:808:808::1', '3fff::1', '5f00::1', '4000::1', 'fc00::1', 'fd00:ec2::254'],
  ...['fe80::1', 'fe80::1%eth0', '2606:4700::1%eth0', 'febf::1', 'fec0::1', 'ff02::1'],
];

const PUBLIC = [
  ...[
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.1',
    '192.167.255.255',
  ],
  ...['169.253.255.255', '168.63.129.17', '223.255.255.255', '2606:4700:4700::1111', '2a00:1450:4001::1'],
  ...['::ffff:8.8.8.8', '64:ff9b::8.8.8.8'],
];

describe('addresses', () => {
  it.each(PRIVATE)('does not allow %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(PUBLIC)('allows %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each(['', 'example.com', '1.2.3', '8.8.8.8 ', '8.8.8.8:80', '[::1]', '999.1.1.1', ':::'])(
    'does not allow %j, which is no address',
    (address) => {
      expect(isPublicAddress(address)).toBe(false);
    },
  );
});

describe('the URL of an endpoint', () => {
  const guarded = (value: unknown): URL | string => endpointUrl(value, false);

  it.each([
    ['https://example.com', 'https://example.com/'],
    ['https://example.com:8443/hooks?tenant=1#part', 'https://example.com:8443/hooks?tenant=1'],
    ['https://bücher.example/ä', 'https://xn--bcher-kva.example/%C3%A4'],
    ['https://EXAMPLE.com./', 'https://example.com./'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700:4700::1111]:444/', 'https://[2606:4700:4700::1111]:444/'],
    ['  https://example.com/  ', 'https://example.com/'],
    ['https://127.0.0.1.nip.example/', 'https://127.0.0.1.nip.example/'],
  ])('accepts %s', (given, href) => {
    expect(String(guarded(given))).toBe(href);
    expect(guarded(given)).toBeInstanceOf(URL);
  });

  // Enough for the optimizing compiler of Node.js.
  it('accepts a host with letters beyond ASCII also after many calls', () => {
    for (let call = 0; call < 100_000; call += 1) guarded('https://example.com/');
    expect(String(guarded('https://bücher.example/'))).toBe('https://xn--bcher-kva.example/');
  });

  it('copies a URL', () => {
    const given = new URL('https://example.com/#a');
    const url = guarded(given);
    given.hostname = 'other.example';
    expect(String(url)).toBe('https://example.com/');
  });

  it.each([
    ...[
      'https://127.0.0.1/',
      'https://127.1/',
      'https://2130706433/',
      'https://0x7f000001/',
      'https://0x7f.1/',
    ],
    ...[
      'https://0177.0.0.1/',
      'https://017700000001/',
      'https://127.0.0.1./',
      'https://0/',
      'https://0.0.0.0/',
    ],
    ...[
      'https://１２７.0.0.1/',
      'https://%31%32%37.0.0.1/',
      'https://localhost/',
      'https://LOCALHOST/',
      'https://localhost./',
    ],
    ...['https://a.localhost/', 'https://a.b.localhost./', 'https://ⓛocalhost/'],
    ...[
      'https://[::1]/',
      'https://[::]/',
      'https://[::ffff:127.0.0.1]/',
      'https://[::ffff:7f00:1]/',
      'https://[64:ff9b::a00:1]/',
    ],
    ...[
      'https://[2002:7f00:1::]/',
      'https://[fd00:ec2::254]/',
      'https://169.254.169.254/latest',
      'https://[fe80::1]/',
    ],
  ])('refuses %s, which leads to a private address', (given) => {
    expect(guarded(given)).toMatch(/private address/);
    expect(endpointUrl(given, true)).toBeInstanceOf(URL);
  });

  it.each([
    ...[
      undefined,
      null,
      1,
      {},
      [],
      '',
      '/hooks',
      'example.com',
      'https://',
      'https://exa mple.com/',
      'https://:443/',
    ],
    ...[
      'https://256.1.1.1/',
      'https://1.2.3.4.5/',
      'https://[::1/',
      'https://example.com:65536/',
      'https://a..b@/',
    ],
  ])('refuses %j, which is no URL', (given) => {
    expect(guarded(given)).toMatch(/absolute URL/);
  });

  it.each([
    'file:///etc/passwd',
    'ftp://example.com/',
    'data:text/plain,a',
    'javascript:1',
    'ws://example.com/',
    'unix:/a',
  ])('refuses %s in every case', (given) => {
    expect(guarded(given)).toMatch(/https URL/);
    expect(endpointUrl(given, true)).toMatch(/https URL/);
  });

  it('accepts http only with private addresses', () => {
    expect(guarded('http://example.com/')).toMatch(/https URL/);
    expect(String(endpointUrl('http://10.0.0.1:3000/a', true))).toBe('http://10.0.0.1:3000/a');
  });

  it('refuses credentials and port 0, and shows none of them', () => {
    for (const given of [
      'https://user:hunter2@example.com/',
      'https://hunter2@example.com/',
      'https://:hunter2@example.com/',
    ]) {
      expect(guarded(given)).toMatch(/no credentials/);
      expect(guarded(given)).not.toContain('hunter2');
    }
    expect(guarded('https://example.com:0/')).toMatch(/port/);
  });
});

describe('hosts', () => {
  it('allows names, whose addresses are checked at the connection', () => {
    expect(isPublicHost('example.com')).toBe(true);
    expect(isPublicHost('localhost.example.com')).toBe(true);
    expect(isPublicHost('metadata.google.internal')).toBe(true);
  });
});
