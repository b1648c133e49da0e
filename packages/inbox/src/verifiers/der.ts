import { fromBase64 } from '../encryption/web-crypto.ts';

/* The two structures of DER that WebCrypto does not read: certificates, and signatures of ECDSA. */

interface Element {
  readonly tag: number;
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

/** The element at a position, or undefined if it is cut off. Lengths of more than three bytes do not occur here. */
function elementAt(der: Uint8Array, start: number): Element | undefined {
  const [tag, first] = [der[start], der[start + 1]];
  if (tag === undefined || first === undefined) return undefined;
  const count = first < 0x80 ? 0 : first & 0x7f;
  if (count > 3 || first === 0x80) return undefined;
  const content = start + 2 + count;
  const size = count === 0 ? first : der.slice(start + 2, content).reduce((sum, byte) => sum * 256 + byte, 0);
  return content + size <= der.byteLength ? { tag, start, content, end: content + size } : undefined;
}

/** The elements within an element. */
function elementsOf(der: Uint8Array, outer: Element | undefined): readonly Element[] {
  const elements: Element[] = [];
  for (let at = outer?.content ?? 0; at < (outer?.end ?? 0);) {
    const element = elementAt(der, at);
    if (element === undefined) return [];
    elements.push(element);
    at = element.end;
  }
  return elements;
}

const VERSION_TAG = 0xa0;
const SEQUENCE_TAG = 0x30;
const INTEGER_TAG = 0x02;

/** The SubjectPublicKeyInfo of the first certificate in a PEM text (RFC 5280); undefined if there is none. */
export function publicKeyOf(pem: string): Uint8Array | undefined {
  const [, base64] = /-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/.exec(pem) ?? [];
  const der = base64 === undefined ? undefined : fromBase64(base64.replace(/\s/g, ''));
  if (der === undefined) return undefined;
  const [body] = elementsOf(der, elementAt(der, 0));
  const fields = elementsOf(der, body);
  // Version (optional), serial number, signature, issuer, validity, subject, subjectPublicKeyInfo.
  const key = fields[fields[0]?.tag === VERSION_TAG ? 6 : 5];
  return key?.tag === SEQUENCE_TAG ? der.slice(key.start, key.end) : undefined;
}

/** The signature of ECDSA on P-256 as WebCrypto takes it, two numbers of 32 bytes; undefined if it is malformed. */
export function rawSignatureOf(der: Uint8Array | undefined): Uint8Array | undefined {
  const outer = der === undefined ? undefined : elementAt(der, 0);
  if (der === undefined || outer?.tag !== SEQUENCE_TAG || outer.end !== der.byteLength) return undefined;
  const numbers = elementsOf(der, outer).map(({ tag, content, end }) => {
    const bytes = der.slice(content, end);
    const number = bytes.slice(Math.max(bytes.byteLength - 32, 0));
    const isNumber =
      tag === INTEGER_TAG && bytes.byteLength <= 33 && (bytes.byteLength < 33 || bytes[0] === 0);
    return isNumber ? number : undefined;
  });
  const [r, s] = numbers;
  if (numbers.length !== 2 || r === undefined || s === undefined) return undefined;
  const raw = new Uint8Array(64);
  raw.set(r, 32 - r.byteLength);
  raw.set(s, 64 - s.byteLength);
  return raw;
}
