import { createECDH, createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** A key pair that follows from a text, so that the same `--secret` has the same public key in each run. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  /** As the sender's dashboard shows it: hexadecimal for Ed25519, otherwise base64 of the SubjectPublicKeyInfo. */
  readonly shown: string;
}

/** What an Ed25519 private key in PKCS #8 begins with, before its 32 bytes. */
const ED25519_START = Buffer.from('302e020100300506032b657004220420', 'hex');

export function keyPairOf(secret: string, isEd25519: boolean): KeyPair {
  const seed = createHash('sha256').update(secret).digest();
  const privateKey = isEd25519
    ? createPrivateKey({ key: Buffer.concat([ED25519_START, seed]), format: 'der', type: 'pkcs8' })
    : p256(seed);
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return { privateKey, shown: isEd25519 ? spki.subarray(-32).toString('hex') : spki.toString('base64') };
}

function p256(seed: Buffer): KeyObject {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(seed);
  const point = ecdh.getPublicKey();
  const [x, y, d] = [point.subarray(1, 33), point.subarray(33), seed].map((one) => one.toString('base64url'));
  return createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d } as never, format: 'jwk' });
}
