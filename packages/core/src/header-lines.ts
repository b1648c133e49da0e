import type { RequestHeaders } from './sender-profile.ts';

/**
 * The headers of a request as they came: a name in any case, its value, the next name. node:http has them like this
 * from the beginning, and makes an object of them for whoever asks, which costs more than recognising the sender does.
 */
export type HeaderLines = readonly string[];

/** The headers of a request in the manner of node:http. */
export function headerLines(
  raw: HeaderLines | undefined,
  request: { readonly headers: RequestHeaders },
): HeaderLines {
  // What brings a request from elsewhere, such as the adapters for serverless functions, fills in `headers` alone.
  return raw !== undefined && raw.length > 0 ? raw : linesOf(request.headers);
}

/** The headers of a request of which there is only an object. */
export function linesOf(headers: RequestHeaders): HeaderLines {
  const lines: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof one === 'string') lines.push(name, one);
    }
  }
  return lines;
}

/**
 * The first value of a header, or undefined where there is none.
 *
 * @param name - in lower case.
 */
export function lineOf(lines: HeaderLines, name: string): string | undefined {
  for (let i = 0; i < lines.length; i += 2) {
    const given = lines[i] ?? '';
    if (given.length === name.length && given.toLowerCase() === name) return lines[i + 1];
  }
  return undefined;
}
