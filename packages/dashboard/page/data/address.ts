/** The folder of the page, whether its address ends in a slash or not: `/backpressure` and `/backpressure/`. */
export function folderOf(pathname: string): string {
  return pathname.endsWith('/') ? pathname : `${pathname}/`;
}

/** The source that the address names after `#`; an address that was cut off names none. */
export function chosenId(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return '';
  }
}

const DOCS = 'https://github.com/webhook-backpressure/webhook-backpressure/blob/main/docs/';

/**
 * The address of a page of the documentation. Errors and alarms may name a file on the server, which a browser cannot
 * open.
 */
export function helpAddress(help: string | undefined, code: string): string {
  if (help !== undefined && /^https?:\/\//.test(help)) return help;
  const page = /([\w-]+\.md#[\w-]+)$/.exec(help ?? '')?.[1];
  return DOCS + (page ?? `errors.md#${code.toLowerCase()}`);
}

/** The message of an error without its end, "(ERR_WBP_…, see …)", which the page shows as a link. */
export function withoutHelp(message: string): string {
  return message.replace(/ \(ERR_WBP_\w+, see [^)]*\)$/, '');
}
