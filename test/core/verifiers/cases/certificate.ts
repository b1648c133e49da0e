import { generateKeyPairSync, type KeyObject } from 'node:crypto';

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const hexBytes = (text: string): Buffer => Buffer.from(text, 'hex');
const SHA256_WITH_RSA = sequence(hexBytes('06092a864886f70d01010b0500'));
const NAME = sequence(der(0x31, sequence(hexBytes('0603550403'), der(0x0c, Buffer.from('sender.example')))));
const VALIDITY = sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('490101000000Z')));

export interface Certificate {
  readonly pem: string;
  readonly der: Buffer;
  readonly privateKey: KeyObject;
}

/** A certificate (RFC 5280) for a new RSA key. Its own signature, which verifiers of webhooks do not check, is zeros. */
export function newCertificate({ hasVersion = true } = {}): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const version = hasVersion ? [hexBytes('a003020102')] : [];
  const body = sequence(...version, hexBytes('020101'), SHA256_WITH_RSA, NAME, VALIDITY, NAME, spki);
  const whole = sequence(body, SHA256_WITH_RSA, der(0x03, Buffer.alloc(257)));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n');
  const pem = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  return { pem, der: whole, privateKey };
}
