import { fromBase64 } from '../encryption/web-crypto.ts';
import { VerificationError } from './signatures.ts';

/* The part of structured fields (RFC 9651) that HTTP message signatures (RFC 9421) and digests (RFC 9530) use. */

/** A covered component: its name, its parameters, and its text in the signature base. */
export interface Component {
  readonly name: string;
  readonly params: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A signature with what it covers. */
export interface SignatureInput {
  readonly label: string;
  readonly components: readonly Component[];
  /** Created, expires, alg and others. Text is without quotes. */
  readonly params: Readonly<Record<string, string>>;
  /** The value of `@signature-params`. */
  readonly text: string;
}

const KEY = '[a-z*][a-z0-9_.*-]*';
const STRING = '"(?:[ !#-[\\]-~]|\\\\["\\\\])*"';
const BYTES = ':[A-Za-z0-9+/]*={0,2}:';
const TOKEN = "[A-Za-z*][\\w!#$%&'*+.^`|~:/-]*";
const PARAMS = `(?:; *${KEY}(?:=(?:${STRING}|-?\\d{1,15}|\\?[01]|${BYTES}|${TOKEN}))?)*`;
const PARAM = new RegExp(`; *(${KEY})(?:=(${STRING}|-?\\d{1,15}|\\?[01]|${BYTES}|${TOKEN}))?`, 'y');
const COMPONENT = new RegExp(`(${STRING})(${PARAMS})`, 'y');
const MEMBER = new RegExp(`(${KEY})=(\\((?: *${STRING}${PARAMS})* *\\)${PARAMS}|${BYTES}${PARAMS})`, 'y');
/** Several signatures of RSA fit. Thousands of components would take 0.1 s to read. */
const MAX_CHARACTERS = 4096;
const BETWEEN = /[ \t]*(?:,[ \t]*|$)/y;
const SPACES = / */y;

/** The members of a dictionary, as text. Of a repeated name, the last counts. */
function membersOf(text: string): ReadonlyMap<string, string> {
  if (text.length > MAX_CHARACTERS) throw new VerificationError('A header of the signature is too long.');
  const members = new Map<string, string>();
  for (let at = 0; at < text.length;) {
    const [whole, name, value] = matchAt(MEMBER, text, at);
    const [separator] = matchAt(BETWEEN, text, at + whole.length);
    members.set(name as string, value as string);
    at += whole.length + separator.length;
  }
  return members;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray & [string] {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  if (match === null) throw new VerificationError('A header of the signature is malformed.');
  return match as RegExpExecArray & [string];
}

function paramsOf(text: string): Record<string, string> {
  const params: [string, string][] = [];
  for (let at = 0; at < text.length;) {
    const [whole, name, value = '?1'] = matchAt(PARAM, text, at);
    params.push([name as string, value.startsWith('"') ? unquoted(value) : value]);
    at += whole.length;
  }
  return Object.fromEntries(params);
}

function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/g, '$1');
}

/** The signatures that a header `Signature-Input` names. */
export function signatureInputs(header: string): readonly SignatureInput[] {
  return [...membersOf(header)].map(([label, text]) => {
    if (!text.startsWith('(')) throw new VerificationError('A header of the signature is malformed.');
    const components: Component[] = [];
    let at = 1;
    for (;;) {
      at += matchAt(SPACES, text, at)[0].length;
      if (text[at] === ')') break;
      const [whole, name, params] = matchAt(COMPONENT, text, at);
      components.push({ name: unquoted(name as string), params: paramsOf(params as string), text: whole });
      at += whole.length;
    }
    return { label, components, params: paramsOf(text.slice(at + 1)), text };
  });
}

/** The byte sequences of a dictionary, as `Signature` and `Content-Digest` are. */
export function byteMembers(header: string): ReadonlyMap<string, Uint8Array | undefined> {
  const members = [...membersOf(header)].map(
    ([name, text]) => [name, fromBase64(text.split(':')[1] ?? '')] as const,
  );
  return new Map(members);
}
