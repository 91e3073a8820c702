import type { ItemOf, QueryOf, ResponseOf, StoredEvent } from '@actlog/protocol';
import type { Answer } from '../answer.ts';
import type { Caller } from '../caller.ts';
import type { ExportedBlob, ExportToBlobOptions } from '../export-blob.ts';
import type { ExportedFile, ExportToFileOptions } from '../export-file.ts';
import { List } from '../list.ts';
import type { ListOptions, RequestOptions } from '../request-options.ts';
import { RequestPromise } from '../request-promise.ts';
import type { SessionFilters } from './session-filters.ts';

/** The sessions of agents, their events and their risk (specification, "Endpoints"). */
export class Sessions {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists sessions: `GET /v1/sessions`. */
  list(query: SessionFilters = {}, options: ListOptions = {}): List<ItemOf<'sessions.list'>> {
    return new List(this.#caller, { endpoint: 'sessions.list', query, options });
  }

  /** Gets a session with its events, or the first page of them: `GET /v1/sessions/:id`. */
  get(
    id: string,
    query: QueryOf<'sessions.get'> = {},
    options?: RequestOptions,
  ): RequestPromise<ResponseOf<'sessions.get'>> {
    return this.#caller.call('sessions.get', { id, query, options });
  }

  /** Lists the events of a session, oldest first, however many there are: `GET /v1/sessions/:id`, page by page. */
  events(id: string, query: QueryOf<'sessions.get'> = {}, options: ListOptions = {}): List<StoredEvent> {
    return new List(this.#caller, { endpoint: 'sessions.get', id, query, options, itemsIn: 'events' });
  }

  /** Computes the risk of a session over ten dimensions: `GET /v1/sessions/:id/risk`. */
  risk(id: string, options?: RequestOptions): RequestPromise<ResponseOf<'sessions.risk'>> {
    return this.#caller.call('sessions.risk', { id, options });
  }

  /**
   * Exports a session as one document in memory: `GET /v1/sessions/:id/export.json`. Where the document carries a
   * `contentSha256`, its events are checked against it; where it carries none, they cannot be.
   *
   * @throws ExportIntegrityError When the events do not match the document's own hash or count.
   * @throws ResponseShapeError When it is larger than `maxResponseBytes`: use `exportToFile` or `exportToBlob`.
   */
  export(id: string, options?: RequestOptions): RequestPromise<ResponseOf<'sessions.export'>> {
    // Loaded on demand, as most programs never export.
    const read = async (answer: Answer) => (await import('../export-document.ts')).readExport(answer);
    return new RequestPromise(this.#caller.run('sessions.export', { id, options }, read));
  }

  /**
   * Exports a session of any size to a file, in constant memory. The file appears under its name only when it is
   * whole, matches its own `contentSha256`, and is on the disk; until then it is a hidden neighbour, which is
   * removed when anything fails. Needs Node, Bun or Deno.
   *
   * @throws ExportIntegrityError When the document is cut short, or does not match its own hash or count.
   */
  async exportToFile(id: string, path: string, options: ExportToFileOptions = {}): Promise<ExportedFile> {
    const { exportToFile } = await import('../export-file.ts');
    return exportToFile(this.#caller, id, path, options);
  }

  /**
   * Exports a session of any size to a `Blob`, for where there are no files: browsers keep what is large on the disk.
   * The document is whole, and holds as many events as it says. Its `contentSha256` is not checked, as the platform
   * hashes only what is in memory whole.
   *
   * @throws ExportIntegrityError When the document is cut short, or does not match its own count.
   */
  async exportToBlob(id: string, options: ExportToBlobOptions = {}): Promise<ExportedBlob> {
    const { exportToBlob } = await import('../export-blob.ts');
    return exportToBlob(this.#caller, id, options);
  }
}
