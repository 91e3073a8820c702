/** Marks a refused connection, in contrast to a broken one; shared by all copies of this package. */
const mark = Symbol.for('@actlog/msw.refused');

/** Returns a network error of a request that was never sent. */
export function refusedConnection(): Response {
  return Object.assign(Response.error(), { [mark]: true });
}

/** `true` for a network error of a request that was never sent. */
export function isRefusedConnection(response: Response): boolean {
  return mark in response;
}
