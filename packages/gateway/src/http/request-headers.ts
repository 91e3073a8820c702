import type { IncomingHttpHeaders } from 'node:http';
import type { RpcMessage } from '../messages/json-rpc.ts';

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
