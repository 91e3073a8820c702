import { type ApiResponse, isObject, succeeded } from '../http/api-response.ts';
import type { Deployment } from './deployment.ts';

/** A session as it was read. */
export interface SessionRead {
  /** Response to the request for the session. */
  readonly first: ApiResponse;
  /** Its body, or the bodies of all pages if the session has a `nextCursor`. */
  readonly document: unknown;
  /** Bodies of all pages. */
  readonly pages: readonly unknown[];
}

/** Reads a session with all of its events; a deployment may return them in pages. */
export async function readSession(
  { probe, settings }: Deployment,
  id: string,
  key?: string,
): Promise<SessionRead> {
  const keyed = key === undefined ? {} : { key };
  const first = await probe.call('sessions.get', { id, ...keyed });
  const pages: unknown[] = [first.json];
  const followed = new Set<string>();
  for (let page = first; pages.length < settings.maxPages; ) {
    const cursor = succeeded(page) && isObject(page.json) ? page.json.nextCursor : undefined;
    if (typeof cursor !== 'string' || cursor === '' || followed.has(cursor)) break;
    followed.add(cursor);
    page = await probe.call('sessions.get', { id, query: { cursor }, ...keyed });
    if (!succeeded(page)) break;
    pages.push(page.json);
  }
  return { first, document: pages.length === 1 ? first.json : pages, pages };
}
