/** The runtime's URL if its types are loaded: this package depends on no runtime's types. */
type Url = typeof globalThis extends { URL: { prototype: infer T } } ? T : { readonly href: string };

declare const URL: new (text: string, base?: Url) => Url;

/**
 * The URL, or undefined if it is invalid. Not `URL.canParse`: once Node 20.20 has optimized a caller, that is false for
 * hosts with letters such as ü.
 */
export function parseUrl(text: string, base?: Url): Url | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
