/**
 * Values by the beginning of a URL: its origin, and whole segments of its path. The longest beginning wins.
 *
 * Compared is what a server sees, after `URL` has parsed both: a host in other letters, with a default port, a final dot or
 * credentials before it is the same one, and `https://api.example.com.evil.example` is another. Segments are compared
 * decoded, because servers decode `%76` to `v`, and empty ones do not count. A decoded slash ends no segment.
 */
export class UrlPrefixes<T> {
  readonly #origins = new Map<string, Origin<T>>();

  /** @returns whether the prefix is new. */
  add(prefix: URL, value: T): boolean {
    const segments = segmentsOf(prefix.pathname);
    const name = originOf(prefix);
    let origin = this.#origins.get(name);
    if (origin === undefined) this.#origins.set(name, (origin = { depth: 0, values: new Map() }));
    const key = segments.join('/');
    if (origin.values.has(key)) return false;
    origin.values.set(key, value);
    origin.depth = Math.max(origin.depth, segments.length);
    return true;
  }

  find(url: URL): T | undefined {
    const origin = this.#origins.get(originOf(url));
    if (origin === undefined) return undefined;
    // No more segments than the longest prefix has: a path can be long.
    const segments = segmentsOf(url.pathname, origin.depth);
    for (let { length } = segments; length >= 0; length -= 1) {
      const value = origin.values.get(segments.slice(0, length).join('/'));
      if (value !== undefined) return value;
    }
    return undefined;
  }
}

interface Origin<T> {
  /** Segments of the longest prefix. */
  depth: number;
  /** By their segments, joined. */
  readonly values: Map<string, T>;
}

/** The prefix in its one form, such as `https://api.example.com/v1`. */
export function prefixName(prefix: URL): string {
  return `${originOf(prefix)}/${segmentsOf(prefix.pathname).join('/')}`;
}

function originOf({ protocol, hostname, port }: URL): string {
  return `${protocol}//${hostname.replace(/\.$/, '')}${port === '' ? '' : `:${port}`}`;
}

function segmentsOf(path: string, most = Infinity): string[] {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segments.length >= most) break;
    if (segment !== '') segments.push(sameForm(segment));
  }
  return segments;
}

/** One form of the segment, whatever of it is encoded. */
function sameForm(segment: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(segment));
  } catch {
    // A broken escape sequence.
    return segment;
  }
}
