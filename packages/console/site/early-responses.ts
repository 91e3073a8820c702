/** Responses by address and key, shared by the early script and the script of the page. */
const store = Symbol.for('actlog.earlyResponses');

type Holder = { [store]?: Map<string, Promise<Response>> };

function responses(): Map<string, Promise<Response>> {
  const holder = globalThis as Holder;
  holder[store] ??= new Map();
  return holder[store];
}

/** Returns the key of a response, which is only for requests with the same credentials. */
function nameOf(url: string, authorization: string | null): string {
  return `${authorization} ${url}`;
}

/** Sends a `GET` request whose response the page takes later. */
export function requestEarly(url: string, authorization: string): void {
  const response = fetch(url, { headers: { authorization } });
  // Reported when it is taken.
  response.catch(() => {});
  responses().set(nameOf(url, authorization), response);
}

/** Sends a request like `fetch`, unless its response was requested early. Each early response is used once. */
export function fetchOnce(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const { method = 'GET', headers } = init;
  if (url instanceof Request || method !== 'GET') return fetch(url, init);
  const name = nameOf(String(url), new Headers(headers).get('authorization'));
  const early = responses().get(name);
  responses().delete(name);
  return early ?? fetch(url, init);
}

/** Drops the early responses that nothing has taken: they would be outdated. */
export function dropEarlyResponses(): void {
  responses().clear();
}
