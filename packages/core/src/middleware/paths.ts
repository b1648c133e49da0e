import { BackpressureError, show } from '@webhook-backpressure/base';

/** The characters of a path that every router takes literally: no pattern, escape, query or parameter. */
const LITERAL = /^\/[\w\-.~!$&'+,=@/]*$/;
/** A target as senders write it. The authority is followed by a path: routers disagree where it ends otherwise. */
const TARGET = /^(?:https?:\/\/[\w.\-:[\]]+(?=\/))?(\/[!-~]*)$/i;
/** Some routers resolve these, others do not: parents, backslashes, and a second slash, after which a host may follow. */
const AMBIGUOUS = /^\/\/|\\|(?:^|\/)\.{1,2}(?:\/|$)/;
/** `%25` is the escape of `%`: an escape of an escape is decoded as well. */
const ASCII_ESCAPE = /%(?:25)*([0-7][\da-f])/gi;
const OTHER_ESCAPES = /(?:%[89a-f][\da-f])+/gi;
/** What may follow the path in a target that is routed to it. */
const ENDS = new Set([undefined, '/', ';', '?', '#']);

/**
 * Reads the option `path`. A wrong `true` queues a request that could have passed; a wrong `false` lets a delivery pass
 * without a limit. So a target that any router of Node may route to the path, or below it, is taken for one.
 *
 * @returns whether one of the targets of a request is the path or below it; undefined for no option.
 * @throws BackpressureError `ERR_WBP_PATH`.
 */
export function pathMatcher(option: unknown): ((targets: readonly string[]) => boolean) | undefined {
  if (option === undefined) return undefined;
  const given: readonly unknown[] = Array.isArray(option) ? option : [option];
  if (given.length === 0) throw wrong(option);
  const paths = given.map((path) => {
    if (typeof path !== 'string' || !LITERAL.test(path) || AMBIGUOUS.test(path)) throw wrong(path);
    return plain(path).replace(/\/$/, '');
  });
  return (targets) => targets.some((target) => isBelow(target, paths));
}

/** The first segment of the path of a target, such as `/webhooks`; undefined for a target that is no path. */
export function topOf(target: string): string | undefined {
  const path = TARGET.exec(target)?.[1];
  return path === undefined ? undefined : /^\/[^/?#;]*/.exec(path)?.[0];
}

function isBelow(target: string, paths: readonly string[]): boolean {
  const path = TARGET.exec(target)?.[1];
  if (path === undefined) return true;
  const end = path.search(/[?#]/);
  const decoded = decode(end === -1 ? path : path.slice(0, end));
  if (AMBIGUOUS.test(decoded)) return true;
  const text = plain(decoded);
  return paths.some((one) => text.startsWith(one) && ENDS.has(text[one.length]));
}

function decode(path: string): string {
  if (!path.includes('%')) return path;
  return path
    .replace(ASCII_ESCAPE, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(OTHER_ESCAPES, (escapes) => {
      try {
        return decodeURIComponent(escapes);
      } catch {
        return escapes;
      }
    });
}

/** Both cases, because the Kelvin sign is a k only in lower case, and the long s an s only in upper case. */
function plain(path: string): string {
  return path
    .replace(/\/{2,}/g, '/')
    .toUpperCase()
    .toLowerCase();
}

function wrong(given: unknown): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_PATH',
    'path must be a literal path such as "/webhooks", without patterns, escapes and a query, or a list of such paths, ' +
      `but was ${show(given)}.`,
  );
}
