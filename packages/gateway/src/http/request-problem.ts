import type { IncomingMessage } from 'node:http';
import { messagesOf, parseMessage } from '../messages/json-rpc.ts';
import { repeatsMessage } from './request-headers.ts';

/** Reason why a request does not reach the server, with the response to it. */
export interface RequestProblem {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Methods of Streamable HTTP. */
const methods: readonly unknown[] = ['POST', 'GET', 'DELETE'];

/** The only content types that every server decodes as the gateway does. */
const jsonInUtf8 = /^application\/json(?:\s*;\s*charset\s*=\s*"?utf-?8"?)?\s*$/i;

/**
 * Returns the problem of a request that the gateway does not read, and which would reach the server with the operator's
 * headers: one to another address than the server's, or with another method. Undefined if there is none.
 *
 * @param url - address of the server
 */
export function problemOfTarget({ method, url }: IncomingMessage, server: URL): RequestProblem | undefined {
  const path = `${server.pathname}${server.search}`;
  if (url !== path) return { status: 404, message: `The gateway passes on requests to ${path} only.` };
  if (methods.includes(method)) return undefined;
  const allowed = methods.join(', ');
  return { status: 405, message: `The method must be ${allowed}.`, headers: { allow: allowed } };
}

/**
 * Returns the problem of a message that a server may read in another way than the gateway, because of its headers: another
 * character set or content coding, or headers that repeat parts of a message and name others. Undefined if there is none.
 */
export function problemOfMessage({ headers }: IncomingMessage, body: Buffer): RequestProblem | undefined {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = headers;
  if (!jsonInUtf8.test(type)) {
    return { status: 415, message: 'The content type must be application/json, in UTF-8.' };
  }
  if (coding.trim().toLowerCase() !== 'identity') {
    return { status: 415, message: 'The body must have no content coding.' };
  }
  if (repeatsMessage(headers, messagesOf(parseMessage(body.toString())))) return undefined;
  return { status: 400, message: 'The headers Mcp-Method and Mcp-Name must name what the message names.' };
}
