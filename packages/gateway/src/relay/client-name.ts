import type { RpcMessage } from '../messages/json-rpc.ts';

/** Key in `_meta` of requests for the client's name, where the connection has no `initialize` (revision 2026-07-28). */
const clientInfoKey = 'io.modelcontextprotocol/clientInfo';

/** Returns the name that a client gives itself in a request; undefined if the request has none. */
export function clientNameIn({ method, params }: RpcMessage): string | undefined {
  const { clientInfo, _meta: meta } = (params ?? {}) as {
    readonly clientInfo?: unknown;
    readonly _meta?: { readonly [clientInfoKey]?: unknown } | null;
  };
  const info = method === 'initialize' ? clientInfo : meta?.[clientInfoKey];
  const { name } = (info ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' && name.trim() !== '' ? name : undefined;
}
