import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type SecretOption, type Verifier, type Verifiers, verifiers } from '@webhook-backpressure/inbox';

/** A signed delivery. */
export interface Sent {
  readonly body: string;
  readonly headers: Record<string, string>;
  readonly url?: string;
}

/** A sender, as the suites sign its deliveries. */
export interface Row {
  readonly verifier: keyof Verifiers;
  /** What the signatures are checked against, as the table of docs/inbox.md says it. */
  readonly against: string;
  /** Makes a delivery without the code under test. */
  readonly sent: (secret: string, nowMs: number) => Sent | Promise<Sent>;
  /** The header with the signature; none if it is in the body. */
  readonly header?: string;
  /** The tolerance by default, Infinity if the timestamp is not checked. Absent: no timestamp is signed. */
  readonly toleranceMs?: number;
  /** The option with the secret. Default: `secret`. */
  readonly option?: 'publicKey' | 'key';
  /** Two secrets. Default: {@link SECRET} and {@link OTHER}. */
  readonly secrets?: readonly [string, string];
  readonly more?: Readonly<Record<string, unknown>>;
  /** Changes what is signed in a body. Default: adds a space. */
  readonly tamper?: (body: string) => string;
  /** Whether the vendor's own code accepts a delivery; it may also throw. */
  readonly confirm?: (sent: Sent, secret: string, nowMs: number) => unknown;
  /** The signed id of a delivery, and what the key is then. */
  readonly id?: readonly [id: string, key: string];
}

export const NOW = 1_700_000_000_000;
export const SECONDS = String(NOW / 1000);
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
export const BODY = '{"id":"evt_1","event_id":"evt_1","name":"Ä 👋"}';
export const BASE = 'https://shop.example';
export const FORM = 'application/x-www-form-urlencoded';
/** Where neither a package of the vendor nor a vector is published. */
export const HAND = '`node:crypto` in the tests';

export const hmac = (
  secret: string | Uint8Array,
  message: string,
  hash = 'sha256',
): ReturnType<typeof createHmac> => createHmac(hash, secret).update(message);
export const hex = (secret: string, message: string): string => hmac(secret, message).digest('hex');
export const base64 = (secret: string, message: string): string => hmac(secret, message).digest('base64');

/** The name and version of an installed package. */
export function packageOf(name: string): string {
  const file = new URL(`../../../../node_modules/${name}/package.json`, import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return `\`${name}\` ${version}`;
}

export function makeOf({ verifier, toleranceMs, option, more }: Row) {
  return (secret: SecretOption, wallClock?: () => number, given?: number): Verifier => {
    const timed = toleranceMs === undefined ? {} : { wallClock, toleranceMs: given };
    return (verifiers[verifier] as (options: object) => Verifier)({
      [option ?? 'secret']: secret,
      ...timed,
      ...more,
    });
  };
}
