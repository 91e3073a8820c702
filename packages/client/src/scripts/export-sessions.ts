import type { Actlog } from '../actlog.ts';
import { invalidValue } from '../errors/actlog-error.ts';
import { idOf } from '../records/id-of.ts';
import type { RequestOptions } from '../request/request-options.ts';
import type { SessionFilters } from '../resources/sessions.ts';
import { mapConcurrent } from './map-concurrent.ts';
import { PartialExport } from './partial-export.ts';

/** Options of `exportSessions`. Request options apply to each request. */
export interface ExportSessionsOptions extends RequestOptions {
  /** Filters of the sessions, as in `client.sessions.list`. Default: all sessions. */
  readonly query?: SessionFilters | undefined;
  /** Number of sessions that are downloaded at the same time. Default 4. */
  readonly concurrency?: number | undefined;
  /** Called after every session that is in the file. */
  readonly onProgress?: ((progress: ExportSessionsProgress) => void) | undefined;
  /** Name of the array that contains the sessions of a page; see `ListOptions`. */
  readonly itemsKey?: string | undefined;
  /** Name of the field with the id of a session, if the service has one that `idOf` does not recognize. */
  readonly idKey?: string | undefined;
}

/** Progress of `exportSessions`. */
export interface ExportSessionsProgress {
  /** Session that was added. */
  readonly sessionId: string;
  /** Number of sessions in the file, including earlier runs. */
  readonly sessions: number;
  /** Size of the file, in bytes. */
  readonly bytes: number;
}

/** A finished export of sessions. */
export interface ExportedSessions {
  readonly path: string;
  /** Number of sessions in the file: one on each line. */
  readonly sessions: number;
  /** Number of those that an interrupted run had exported before. */
  readonly resumed: number;
  /** Number of sessions that were deleted between their listing and their export. */
  readonly missing: number;
  /** Size of the file, in bytes. */
  readonly bytes: number;
}

/**
 * Exports many sessions to a file of JSON Lines: each line is the document of `GET /v1/sessions/:id/export.json`,
 * verified as by `client.sessions.exportToFile`. Memory is constant for documents of any size.
 *
 * The file gets its name when it is complete. Until then, its parts are in the folder `<path>.partial`. If a run is
 * interrupted, by an error, a signal or the end of the process, call it again with the same path and filters: it
 * continues, and every session is in the file once, as it was when it was exported. Documents that have arrived when
 * the signal is aborted are still added. Only one process may write to a
 * path. Needs Node, Bun or Deno.
 *
 * @throws InvalidArgumentError When the path is taken, or an interrupted export of another deployment or with other
 * filters is at this path.
 * @throws ActlogError When a request fails after its retries. Call again to continue.
 *
 * @example
 * ```ts
 * const { sessions, resumed } = await exportSessions(client, 'sessions.jsonl', {
 *   query: { startedAfter: '2026-01-01T00:00:00Z' },
 *   onProgress: ({ sessions, bytes }) => console.log(sessions, bytes),
 * });
 * ```
 */
export async function exportSessions(
  client: Actlog,
  path: string,
  options: ExportSessionsOptions = {},
): Promise<ExportedSessions> {
  if (typeof path !== 'string' || path === '') {
    throw invalidValue('path', 'a file path (convert a URL with fileURLToPath)', path);
  }
  const { query = {}, concurrency = 4, onProgress, itemsKey, idKey, ...requestOptions } = options;
  const partial = await PartialExport.open(path, { baseURL: client.baseURL, ...filtersOf(query) });
  const resumed = partial.sessions;
  let missing = 0;
  try {
    const listed = client.sessions
      .list({ limit: 200, ...query }, { ...requestOptions, itemsKey })
      .map((session) => idOf(session, idKey))
      .filter((id) => partial.claim(id));
    const downloads = mapConcurrent(
      listed,
      async (id, { index, signal }) => {
        const part = partial.partPath(index);
        const either = requestOptions.signal ? AbortSignal.any([requestOptions.signal, signal]) : signal;
        const found = client.sessions.exportToFile(id, part, { ...requestOptions, signal: either });
        return { id, part: (await unlessDeleted(found))?.path };
      },
      { concurrency },
    );
    for await (const { id, part } of downloads) {
      if (part === undefined) {
        missing += 1;
        continue;
      }
      await partial.append(id, part);
      onProgress?.({ sessionId: id, sessions: partial.sessions, bytes: partial.bytes });
    }
    await partial.finish();
  } catch (error) {
    await partial.close();
    throw error;
  }
  return { path, sessions: partial.sessions, resumed, missing, bytes: partial.bytes };
}

/** Resolves to undefined for a session that does not exist any more, such as one that retention deleted. */
async function unlessDeleted<Data>(found: Promise<Data>): Promise<Data | undefined> {
  try {
    return await found;
  } catch (error) {
    if ((error as { status?: unknown } | null)?.status === 404) return undefined;
    throw error;
  }
}

/**
 * Returns the filters that tell one export from another. Times are left out, because a script computes them anew on
 * every run.
 */
function filtersOf(query: SessionFilters): Record<string, unknown> {
  const { limit: _limit, cursor: _cursor, startedAfter: _after, startedBefore: _before, ...filters } = query;
  return filters;
}
