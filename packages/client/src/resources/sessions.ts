import type { QueryOf, Risk, Session, SessionDetail, SessionExport, StoredEvent } from '@actlog/protocol';
import type { ExportedBlob, ExportToBlobOptions } from '../export/export-blob.ts';
import type { ExportedFile, ExportToFileOptions } from '../export/export-file.ts';
import { List } from '../pagination/list.ts';
import type { RecordId } from '../records/id-of.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import type { ListOptions, RequestOptions } from '../request/request-options.ts';
import { RequestPromise } from '../request/request-promise.ts';
import type { ApiResponse } from '../response/api-response.ts';

/** Sessions of agents, with their events and risk (specification, "Endpoints"). */
export class Sessions {
  readonly #caller: EndpointCaller;

  /** @internal */
  constructor(caller: EndpointCaller) {
    this.#caller = caller;
  }

  /**
   * Lists sessions: `GET /v1/sessions`.
   *
   * @example
   * ```ts
   * for await (const session of client.sessions.list({ agentId: 'billing', minRiskScore: 30 })) {
   *   console.log(session.id, session.eventCount);
   * }
   * ```
   */
  list(query: SessionFilters = {}, options: ListOptions = {}): List<Session> {
    return new List(this.#caller, { endpoint: 'sessions.list', query, options });
  }

  /**
   * Gets a session with its events, or with the first page of them: `GET /v1/sessions/:id`.
   *
   * @example
   * ```ts
   * const session = await client.sessions.get('invoice-1042');
   * console.log(session.startedAt, session.events?.length);
   * ```
   */
  get(
    id: RecordId,
    query: QueryOf<'sessions.get'> = {},
    options?: RequestOptions,
  ): RequestPromise<SessionDetail> {
    return this.#caller.call('sessions.get', { id, query, options });
  }

  /**
   * Lists all events of a session, oldest first: `GET /v1/sessions/:id`, page by page. `isToolCall` and `isKnownEvent`
   * give an event the type of its category.
   *
   * @example
   * ```ts
   * for await (const event of client.sessions.events('invoice-1042')) {
   *   console.log(event.sourceTimestamp, event.category);
   * }
   * ```
   */
  events(id: RecordId, query: QueryOf<'sessions.get'> = {}, options: ListOptions = {}): List<StoredEvent> {
    return new List(this.#caller, { endpoint: 'sessions.get', id, query, options, itemsIn: 'events' });
  }

  /**
   * Computes the risk of a session in ten dimensions: `GET /v1/sessions/:id/risk`.
   *
   * @example
   * ```ts
   * const { score, level, factors } = await client.sessions.risk('invoice-1042');
   * console.log(score, level, factors?.map(({ title }) => title));
   * ```
   */
  risk(id: RecordId, options?: RequestOptions): RequestPromise<Risk> {
    return this.#caller.call('sessions.risk', { id, options });
  }

  /**
   * Exports a session as one document in memory: `GET /v1/sessions/:id/export.json`. If the document has a
   * `contentSha256`, its events are verified against it.
   * @throws ExportIntegrityError When the events do not match the hash or count in the document.
   * @throws ResponseShapeError When the document is larger than `maxResponseBytes`: use `exportToFile` or
   * `exportToBlob`.
   *
   * @example
   * ```ts
   * const document = await client.sessions.export('invoice-1042');
   * console.log(document.events?.length, document.contentSha256);
   * ```
   */
  export(id: RecordId, options?: RequestOptions): RequestPromise<SessionExport> {
    // Loaded on demand, because most programs never export.
    const read = async (response: ApiResponse) =>
      (await import('../export/session-export.ts')).readExport(response) as Promise<SessionExport>;
    return new RequestPromise(this.#caller.run('sessions.export', { id, options }, read));
  }

  /**
   * Exports a session of any size to a file, in constant memory. The file gets its name only when it is complete,
   * matches its `contentSha256` and is flushed to disk. Until then it has a hidden temporary name, and is removed
   * if anything fails. Needs Node, Bun or Deno. For many sessions, see `exportSessions` of `@actlog/client/scripts`.
   *
   * @throws ExportIntegrityError When the document is truncated, or does not match its hash or count.
   *
   * @example
   * ```ts
   * const { bytes, verified } = await client.sessions.exportToFile('invoice-1042', 'session.json');
   * ```
   */
  async exportToFile(id: RecordId, path: string, options: ExportToFileOptions = {}): Promise<ExportedFile> {
    const { exportToFile } = await import('../export/session-export.ts');
    return exportToFile(this.#caller, id, path, options);
  }

  /**
   * Exports a session of any size to a `Blob`, for platforms without files. Browsers keep large blobs on disk. Checks
   * that the document is complete and contains the declared number of events, but not its `contentSha256`, because the
   * platform can only hash data that is entirely in memory.
   *
   * @throws ExportIntegrityError When the document is truncated, or does not match its count.
   *
   * @example
   * ```ts
   * const { blob, eventCount } = await client.sessions.exportToBlob('invoice-1042');
   * ```
   */
  async exportToBlob(id: RecordId, options: ExportToBlobOptions = {}): Promise<ExportedBlob> {
    const { exportToBlob } = await import('../export/session-export.ts');
    return exportToBlob(this.#caller, id, options);
  }
}

/** Query parameters of a list of sessions. Times are Dates, or ISO 8601 in UTC with a trailing `Z`. */
export type SessionFilters<Name extends 'sessions.list' | 'agents.sessions' = 'sessions.list'> = {
  [Field in keyof QueryOf<Name>]:
    | QueryOf<Name>[Field]
    | (Field extends 'startedAfter' | 'startedBefore' ? Date : never);
};
