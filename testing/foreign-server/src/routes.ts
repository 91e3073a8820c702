import { nothing, Refusal } from './refusal.ts';

/** A handler with the paths that it serves. */
export interface Route<Handler> {
  readonly method: string;
  readonly handler: Handler;
  readonly pattern: RegExp;
}

/** Returns the routes of handlers by method and path. */
export function routesOf<Handler>(handlers: Readonly<Record<string, Handler>>): readonly Route<Handler>[] {
  return (
    Object.entries(handlers)
      // A literal path takes precedence over one with an identifier.
      .sort(([left], [right]) => Number(left.includes(':id')) - Number(right.includes(':id')))
      .map(([route, handler]) => {
        const [method = '', path = ''] = route.split(' ');
        const pattern = `^${path.replaceAll('.', '\\.').replace(':id', '([^/]+)')}$`;
        return { method, handler, pattern: new RegExp(pattern) };
      })
  );
}

/** Returns the handler of a request and the identifier in its path; throws the refusal of an unknown path or method. */
export function routeTo<Handler>(
  routes: readonly Route<Handler>[],
  method: string | undefined,
  path: string,
): { readonly handler: Handler; readonly id: string } {
  const matches = routes.filter(({ pattern }) => pattern.test(path));
  const route = matches.find((one) => one.method === method);
  if (!route) {
    if (matches.length === 0) return nothing();
    throw new Refusal(405, 'nothing-here', 'There is no such thing.');
  }
  const [, id = ''] = route.pattern.exec(path) ?? [];
  return { handler: route.handler, id: decodeURIComponent(id) };
}
