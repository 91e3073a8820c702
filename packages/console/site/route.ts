/** Current location: the part of the address after `#`, so that any server and path prefix works. */
export interface Route {
  /** Decoded parts of the path: `#/sessions/a%2Fb` gives `['sessions', 'a/b']`. */
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

/** Parses the part of an address after `#`. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

/**
 * Returns the address of a location, for `href`. Parts are encoded; query members without text are omitted.
 */
export function href(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}
