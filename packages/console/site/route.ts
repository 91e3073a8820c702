/** Where the person is: what follows `#` in the address, so that any server and path prefix will do. */
export interface Route {
  /** The decoded parts of the path: `#/sessions/a%2Fb` gives `['sessions', 'a/b']`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Reads the part of an address that follows `#`. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

/** The address of a place, for `href`. Parts are encoded; members of the query without a text are left out. */
export function href(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}
