/** What a request asks for. */
export type Route =
  'page' | 'state' | 'events' | 'dead' | 'dead/item' | 'update' | 'endpoint' | 'redrive' | 'purge';

/** The method of each route, beside HEAD for GET. */
export const METHOD_OF: Readonly<Record<Route, 'GET' | 'POST'>> = {
  page: 'GET',
  state: 'GET',
  events: 'GET',
  dead: 'GET',
  'dead/item': 'GET',
  update: 'POST',
  endpoint: 'POST',
  redrive: 'POST',
  purge: 'POST',
};

/** No file name, and nothing encoded. */
const PLAIN = /^[\w~-]*$/;
/** Segments that lead somewhere else once something decodes them. */
const LEADS_AWAY = /^\.\.?$|\\|%(?:2e|2f|5c|00)/i;

/**
 * The route of a path. Without knowing the path of the mount, its last segments decide, and any plain path may be the
 * mount itself: the page.
 *
 * @param isBelowMount - whether the path begins below the mount.
 */
export function routeOf(path: string, isBelowMount: boolean): Route | undefined {
  const segments = path.split('/').slice(1);
  if (isBelowMount) {
    const below = segments.join('/');
    return below === '' ? 'page' : named(below);
  }
  if (segments.some((segment) => LEADS_AWAY.test(segment))) return undefined;
  const last = segments.at(-1) ?? '';
  const route = named(segments.slice(-2).join('/')) ?? named(last);
  if (route !== undefined) return route;
  // A slash after a route is no mount.
  if (last === '') return named(segments.at(-2) ?? '') === undefined ? 'page' : undefined;
  return PLAIN.test(last) ? 'page' : undefined;
}

function named(text: string): Route | undefined {
  return text !== 'page' && Object.hasOwn(METHOD_OF, text) ? (text as Route) : undefined;
}
