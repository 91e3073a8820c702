import { parseExactJson } from '@actlog/recorder/adapter';

/** Any message of JSON-RPC 2.0, as far as the gateway reads it. Its other fields are passed on unread. */
export interface RpcMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Error codes of JSON-RPC 2.0, section 5.1, and of the SDKs for a closed connection. */
export const rpcErrors = {
  parseError: -32700,
  invalidRequest: -32600,
  invalidParams: -32602,
  internalError: -32603,
  connectionClosed: -32000,
} as const;

/** Error of a JSON-RPC response. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: unknown;

  /** @param code - code of the response */
  constructor(code: unknown, message: string) {
    super(message);
    this.code = code;
  }

  /** Returns the error in a response. */
  static of(error: unknown): RpcError {
    const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
    return new RpcError(code, typeof message === 'string' ? message : '');
  }
}

/** Returns the messages of a line: several of a batch (revision 2025-03-26), else one. */
export function messagesOf(value: unknown): readonly RpcMessage[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.map((message) => (typeof message === 'object' && message !== null ? message : {}));
}

/** Returns `true` for a response to a request of the other side. */
export function isResponse(message: RpcMessage): boolean {
  return message.method === undefined && message.id !== undefined;
}

/** Returns a key that distinguishes the ids `1` and `"1"`. */
export function keyOfId(id: unknown): string {
  return JSON.stringify(id) ?? 'undefined';
}

/** Returns the text of a response with a result. */
export function resultText(id: unknown, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

/** Returns the text of a response with an error. */
export function errorText(id: unknown, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message } });
}

/** Returns the text of a notification. */
export function notificationText(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

/** Parses a message, in which a number keeps its digits; undefined if it is not JSON. */
export function parseMessage(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/** Returns a message as a line. */
export function lineOf(text: string): Buffer {
  return Buffer.from(`${text}\n`);
}
