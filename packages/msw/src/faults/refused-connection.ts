/** Tells a connection that was refused from one that broke; shared with `@actlog/msw/node`, whichever copy that is. */
const mark = Symbol.for('@actlog/msw.refused');

/** A network error of a request that was never sent. */
export function refusedConnection(): Response {
  return Object.assign(Response.error(), { [mark]: true });
}

/** Whether a network error says that the request was never sent. */
export function isRefusedConnection(response: Response): boolean {
  return mark in response;
}
