import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createDispatcher } from '@actlog/client/transport';
import type { Dispatcher } from 'undici';
import { errorText, type RpcMessage, rpcErrors } from '../messages/json-rpc.ts';

/** Address of a server, with the headers of each request to it. */
export class Upstream {
  readonly url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #dispatcher = createDispatcher('environment');

  /** @param headers - headers such as `Authorization` */
  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    this.url = url;
    this.#headers = headers;
  }

  /**
   * Sends a request to the address, and to no other: it has the operator's headers.
   *
   * @throws when there is no response
   */
  async send(options: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string | string[]>>;
    readonly body?: Buffer | undefined;
    readonly signal?: AbortSignal | undefined;
  }): Promise<Dispatcher.ResponseData> {
    const { method, headers, body, signal } = options;
    const { origin, pathname, search } = this.url;
    const dispatcher = await this.#dispatcher;
    return dispatcher.request({
      origin,
      path: `${pathname}${search}`,
      method: method as Dispatcher.HttpMethod,
      headers: { ...headers, ...this.#headers },
      body: body ?? null,
      signal: signal ?? null,
      // A call may run for long, and a stream may be silent for long.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    await (await this.#dispatcher).destroy();
  }
}

/** Responds with an error of the gateway itself, as the SDKs do. */
export function respondJson(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(errorText(null, rpcErrors.connectionClosed, message));
}

/** Key in `_meta` of requests since revision 2026-07-28. */
const protocolVersionKey = 'io.modelcontextprotocol/protocolVersion';

/** Parameters that are repeated in the header `Mcp-Name` (revision 2026-07-28, "Standard headers"). */
const nameParameters: ReadonlyMap<unknown, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/**
 * Returns the headers that repeat a part of a message: since revision 2026-07-28, servers require them.
 *
 * @param negotiated - version of the protocol from the response to `initialize`
 */
export function headersOf({ method, params }: RpcMessage, negotiated?: string): Record<string, string> {
  const { _meta: meta } = (params ?? {}) as {
    readonly _meta?: { readonly [protocolVersionKey]?: unknown } | null;
  };
  const version = meta?.[protocolVersionKey];
  if (typeof version !== 'string') return negotiated ? { 'mcp-protocol-version': negotiated } : {};
  const parameter = nameParameters.get(method);
  const name = parameter && (params as Record<string, unknown>)[parameter];
  return {
    'mcp-protocol-version': version,
    ...(typeof method === 'string' ? { 'mcp-method': method } : {}),
    ...(typeof name === 'string' ? { 'mcp-name': headerValue(name) } : {}),
  };
}

/** Returns `true` if the headers that repeat a part of a message name what the message does, or are missing. */
export function repeatsMessage(headers: IncomingHttpHeaders, messages: readonly RpcMessage[]): boolean {
  const { 'mcp-method': method, 'mcp-name': name } = headers;
  if (method === undefined && name === undefined) return true;
  const [message = {}, ...others] = messages;
  const parameter = nameParameters.get(message.method);
  const named = parameter && (message.params as Record<string, unknown> | undefined)?.[parameter];
  return (
    others.length === 0 &&
    (method === undefined || method === message.method) &&
    (name === undefined || (typeof named === 'string' && decoded(String(name)) === named))
  );
}

function decoded(value: string): string {
  const [, text] = /^=\?base64\?([A-Za-z\d+/]*={0,2})\?=$/.exec(value) ?? [];
  return text === undefined ? value : Buffer.from(text, 'base64').toString();
}

/** Encodes a value that a header cannot contain as it is. */
function headerValue(value: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?');
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}
