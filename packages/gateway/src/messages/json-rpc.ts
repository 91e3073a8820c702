import { isUtf8 } from 'node:buffer';
import { callMethod, parseExactJson, repeatedMember } from '@actlog/recorder/adapter';
import { applyEdits, findNodeAtLocation, type JSONPath, modify, parseTree } from 'jsonc-parser';

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

/** Returns the messages of a line: several of a batch (revision 2025-03-26), otherwise one. */
export function messagesOf(value: unknown): readonly RpcMessage[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.map((message) => (typeof message === 'object' && message !== null ? message : {}));
}

/** Returns the names of the tools that a message, or a batch, calls. */
export function callNamesIn(text: string): string[] {
  return messagesOf(parseMessage(text)).flatMap(({ method, params }) => {
    const { name } = (params ?? {}) as { readonly name?: unknown };
    return method === callMethod && typeof name === 'string' ? [name] : [];
  });
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

/** Returns a JSON text with one value set, or removed if it is undefined. All other characters stay as they are. */
export function withValue(text: string, path: JSONPath, value: unknown): string {
  return applyEdits(text, modify(text, path, value, {}));
}

/**
 * Returns a JSON text in which an array has other elements. All other characters stay as they are.
 *
 * @param change - returns the text of an element, or `undefined` to remove it
 */
export function withElementsOf(
  text: string,
  path: JSONPath,
  change: (element: string, index: number) => string | undefined,
): string {
  const root = parseTree(text);
  const array = root && findNodeAtLocation(root, path);
  if (array?.type !== 'array') return text;
  const elements = (array.children ?? []).flatMap(
    ({ offset, length }, index) => change(text.slice(offset, offset + length), index) ?? [],
  );
  return `${text.slice(0, array.offset)}[${elements.join(',')}]${text.slice(array.offset + array.length)}`;
}

/** Returns the JSON text of each element of an array. */
export function elementTexts(text: string): string[] {
  const { children = [] } = parseTree(text) ?? {};
  return children.map(({ offset, length }) => text.slice(offset, offset + length));
}

/** Returns an array's text with more elements at its end. */
export function withElements(text: string, elements: readonly string[]): string {
  const end = text.lastIndexOf(']');
  return `${text.slice(0, end)},${elements.join(',')}${text.slice(end)}`;
}

/** Output that keeps the order in which lines were passed, also if some are not known yet. */
export class OrderedOutput {
  readonly #write: (line: Buffer) => void;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  /** @param write - receives each line */
  constructor(write: (line: Buffer) => void) {
    this.#write = write;
  }

  /** Resolves when all lines passed so far are written. */
  get written(): Promise<void> {
    return this.#last;
  }

  /** Writes a line at once, or after those before it. */
  write(line: Buffer | Promise<Buffer>): void {
    if (this.#waiting === 0 && Buffer.isBuffer(line)) {
      this.#write(line);
      return;
    }
    this.#waiting += 1;
    this.#last = this.#writeAfter(this.#last, line);
  }

  async #writeAfter(before: Promise<void>, line: Buffer | Promise<Buffer>): Promise<void> {
    await before;
    const known = await line;
    this.#waiting -= 1;
    this.#write(known);
  }
}

const carriageReturn = 0x0d;

/** Members of a message that decide which tool is called. Some parsers ignore the case of names. */
const envelopeNames: readonly string[] = ['id', 'method', 'params'];
const callNames: readonly string[] = ['name', 'arguments'];

/**
 * Returns the problem of a message that another parser may read in another way than the gateway, which could then check
 * one call while the server runs another; undefined if there is none.
 *
 * Parsers differ in repeated members (RFC 8259, section 4), in the case of their names, in bytes that are not UTF-8,
 * and some end a line at a carriage return.
 *
 * @param line - message with or without its line ending
 * @param value - its parsed form
 */
export function findAmbiguity(line: Buffer, text: string, value: unknown): string | undefined {
  if (!isUtf8(line)) return 'is not valid UTF-8';
  const end = text.trimEnd();
  if (line.includes(carriageReturn) && end.includes('\r')) return 'contains a carriage return';
  for (const message of messagesOf(value)) {
    const problem = problemOfNames(message);
    if (problem) return problem;
  }
  // Serialized as most clients do, it cannot have a repeated member.
  if (JSON.stringify(value) === end) return undefined;
  const repeated = repeatedMember(text);
  return repeated === undefined ? undefined : `has the member ${JSON.stringify(repeated)} twice`;
}

function problemOfNames(message: RpcMessage): string | undefined {
  const odd = oddName(message, envelopeNames);
  if (odd) return odd;
  if (message.method !== callMethod) return undefined;
  const { params } = message;
  if (typeof params !== 'object' || params === null) return 'has no params';
  const { name, arguments: args } = params as { readonly name?: unknown; readonly arguments?: unknown };
  if (typeof name !== 'string') return 'has no params.name that is a string';
  return (
    oddName(params, callNames) ?? (typeof args === 'object' && args !== null ? twinName(args) : undefined)
  );
}

function oddName(value: object, names: readonly string[]): string | undefined {
  const odd = Object.keys(value).find((key) => !names.includes(key) && names.includes(folded(key)));
  return odd === undefined ? undefined : `has the member ${JSON.stringify(odd)} in another case`;
}

/** Arguments that differ only in case are one argument for a server that ignores case, which takes the last. */
function twinName(args: object): string | undefined {
  const seen = new Set<string>();
  for (const key of Object.keys(args)) {
    if (seen.has(folded(key))) return `has the argument ${JSON.stringify(key)} twice, in another case`;
    seen.add(folded(key));
  }
  return undefined;
}

/**
 * Returns a name without case, as the most tolerant parsers compare names: Go folds U+017F to `s` and U+212A to `k`, and
 * Java takes the dotless and the dotted `i` for one.
 */
export function folded(name: string): string {
  return name
    .replaceAll(/[\u0130\u0131]/g, 'i')
    .toUpperCase()
    .toLowerCase();
}
