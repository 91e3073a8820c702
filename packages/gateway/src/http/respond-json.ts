import type { ServerResponse } from 'node:http';
import { errorText, rpcErrors } from '../messages/json-rpc.ts';

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
