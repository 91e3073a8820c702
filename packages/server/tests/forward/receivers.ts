import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { atTestEnd } from '../test-end.ts';

/** A response of a receiver. */
export interface ReceiverResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A request, with its body unpacked. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** Starts an HTTP server on a loopback address, and returns its address. A handler that returns nothing hangs up. */
export async function startReceiver(
  handle: (request: ReceivedRequest) => ReceiverResponse | undefined | Promise<ReceiverResponse | undefined>,
  port = 0,
): Promise<{ readonly url: string; readonly port: number; close(): Promise<void> }> {
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString(
      'utf8',
    );
    const { method = '', url = '', headers } = request;
    const result = await handle({ method, path: url, headers, text });
    if (!result) return request.socket.destroy();
    response.writeHead(result.status, { 'content-type': 'application/json', ...result.headers });
    response.end(JSON.stringify(result.body ?? {}));
  };
  const server = createServer((request, response) => void respond(request, response).catch(() => {}));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  atTestEnd(close);
  const { port: actual } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${actual}`, port: actual, close };
}

/** A document as Elasticsearch stores it. */
export type Document = Readonly<Record<string, unknown>> & {
  readonly metadata: { readonly uid: string; readonly sequence: number };
};

/**
 * The bulk API of Elasticsearch, as its reference documents it: pairs of lines, each ended by a newline; `create` conflicts
 * with a document of the same id; outcomes in the order of the items, and 200 although some failed.
 */
export class BulkApi {
  /** Documents by id, in the order in which they were created. */
  readonly documents = new Map<string, Document>();
  /** Ids of documents that were sent again. */
  readonly conflicts: string[] = [];
  /** Responses to the next requests, instead of those of the API. */
  readonly refusals: (ReceiverResponse | 'hang up')[] = [];
  /** Called after the documents of a request are stored, before its response. */
  afterStored: () => Promise<ReceiverResponse | undefined> | undefined = () => undefined;
  /** Returns the status of a document that the mapping rejects. */
  rejects: (document: Document) => number | undefined = () => undefined;

  handle = async ({
    method,
    path,
    headers,
    text,
  }: ReceivedRequest): Promise<ReceiverResponse | undefined> => {
    const refusal = this.refusals.shift();
    if (refusal === 'hang up') return undefined;
    if (refusal) return refusal;
    if (method !== 'POST' || path !== '/agents/_bulk') return { status: 405 };
    if (headers.authorization !== 'ApiKey c2VjcmV0') return { status: 401 };
    if (headers['content-type'] !== 'application/x-ndjson') return { status: 406 };
    if (!text.endsWith('\n')) return { status: 400 };
    const lines = text.slice(0, -1).split('\n');
    const items = [];
    for (let at = 0; at < lines.length; at += 2) {
      const action = JSON.parse(lines[at] as string);
      const document = JSON.parse(lines[at + 1] as string) as Document;
      const { _id: id } = action.create;
      if (Number.isNaN(Date.parse(document['@timestamp'] as string))) return { status: 400 };
      items.push({ create: { _id: id, ...this.#create(id, document) } });
    }
    const instead = await this.afterStored();
    if (instead) return instead;
    return { status: 200, body: { errors: items.some(({ create }) => create.status >= 300), items } };
  };

  #create(id: string, document: Document) {
    if (this.documents.has(id)) {
      this.conflicts.push(id);
      return { status: 409, error: { type: 'version_conflict_engine_exception' } };
    }
    const status = this.rejects(document);
    if (status !== undefined) return { status, error: { type: 'document_parsing_exception' } };
    this.documents.set(id, document);
    return { status: 201 };
  }
}
