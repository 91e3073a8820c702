import { type EndpointName, endpointNames, endpoints } from '@actlog/protocol';

/** Endpoint of a request. */
export interface Target {
  readonly name: EndpointName;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

const table = endpointNames.map((name) => ({
  name,
  method: endpoints[name].method,
  pattern: new RegExp(`^${endpoints[name].path.replaceAll('.', '\\.').replace(':id', '(?<id>[^/]+)')}$`),
}));

/** Returns the path of a URL below the base URL; undefined if it is elsewhere. */
export function pathBelow(baseURL: string, url: string): string | undefined {
  const { origin, pathname } = new URL(url);
  const whole = origin + pathname;
  return whole.startsWith(`${baseURL}/`) ? whole.slice(baseURL.length) : undefined;
}

/**
 * Returns the endpoint of a method and a path.
 *
 * @throws URIError if the path cannot be decoded.
 */
export function targetOf(method: string, path: string): Target | undefined {
  for (const row of table) {
    if (row.method !== method) continue;
    const { groups } = row.pattern.exec(path) ?? { groups: undefined };
    if (groups !== undefined)
      return { name: row.name, params: { id: decodeURIComponent(groups.id as string) } };
    if (row.pattern.test(path)) return { name: row.name, params: {} };
  }
  return undefined;
}

/** Returns the methods of a path for the `Allow` header; empty for an unknown path. */
export function allowedMethods(path: string): string {
  const methods = table.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
  const all = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set<string>(all)].join(', ');
}

/** Returns the endpoint of a request below the base URL; undefined if there is none. */
export function endpointOf(baseURL: string, { method, url }: Request): EndpointName | undefined {
  try {
    return targetOf(method, pathBelow(baseURL, url) ?? '')?.name;
  } catch {
    return undefined; // a path that cannot be decoded
  }
}
