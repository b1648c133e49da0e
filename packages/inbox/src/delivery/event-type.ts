/** The headers in which senders name the type of an event. */
const HEADERS: readonly string[] = ['x-github-event', 'x-shopify-topic', 'x-gitlab-event', 'ce-type'];
/** The fields of a JSON body in which they do. */
const FIELDS: readonly string[] = ['type', 'event_type', 'eventType', 'event', 'topic'];

/** The type of the event: from a header of its sender, else from the JSON body. Undefined if neither names one. */
export function eventTypeOf({
  headers,
  json,
}: {
  readonly headers: Readonly<Record<string, string>>;
  readonly json: () => unknown;
}): string | undefined {
  for (const name of HEADERS) {
    const value = headers[name];
    if (value !== undefined && value !== '') return value;
  }
  let body: unknown;
  try {
    body = json();
  } catch {
    return undefined;
  }
  if (typeof body !== 'object' || body === null) return undefined;
  for (const name of FIELDS) {
    const value = (body as Readonly<Record<string, unknown>>)[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}
