import { exactDigitsOf, headers, parseJsonForOutput } from '@actlog/protocol';
import { ResponseShapeError, redactKeys } from '../errors/actlog-error.ts';

/** Method and path of a request, as error messages show them. */
export interface RequestName {
  readonly method: string;
  /** Path without query. */
  readonly path: string;
}

/** A complete HTTP response. */
export class ApiResponse {
  readonly request: RequestName;
  readonly head: ResponseHead;
  /** Body in memory. Undefined when it was written elsewhere, or when the connection broke after an error status. */
  readonly body: MemorySink | undefined;
  /** Attempt that produced this response, counted from 1. */
  readonly attempt: number;

  constructor(request: RequestName, head: ResponseHead, body: MemorySink | undefined, attempt: number) {
    this.request = request;
    this.head = head;
    this.body = body;
    this.attempt = attempt;
  }

  /** Value of the `x-request-id` header, with any echoed API key redacted. */
  get requestId(): string | undefined {
    const id = this.head.header(headers.requestId)?.slice(0, 200);
    return id && redactKeys(id);
  }

  /** Fields that every error about this response carries. */
  context(cause?: unknown) {
    const { request, head, requestId, attempt } = this;
    return { ...request, status: head.status, requestId, attempts: attempt, cause };
  }

  /** Creates an error that states how the response differs from the specification. */
  shapeError(problem: string, cause?: unknown): ResponseShapeError {
    const { method, path } = this.request;
    return new ResponseShapeError(
      `${method} ${path} returned ${this.head.status} with ${problem}.`,
      this.context(cause),
    );
  }

  /** `true` if there is no body, as with status 204. */
  get isEmpty(): boolean {
    return !this.body?.length;
  }

  /**
   * Parses the body as JSON.
   *
   * @throws ResponseShapeError When the body is not JSON. The message never quotes the body.
   */
  json(): unknown {
    if (!this.body?.length) throw this.shapeError('an empty body instead of JSON');
    try {
      return parseResponse(this.body.text());
    } catch {
      // The parser's message quotes the body, so it is dropped.
      const type = this.head.header('content-type')?.slice(0, 100) ?? 'no content type';
      throw this.shapeError(`a body that is not JSON (${type}, ${this.body.length} bytes)`);
    }
  }

  /**
   * Parses the body as a JSON object.
   *
   * @throws ResponseShapeError When the body is not a JSON object.
   */
  jsonObject(): Record<string, unknown> {
    const value = this.json();
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
    const kind = Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`;
    throw this.shapeError(`${kind} instead of a JSON object`);
  }

  /** Returns the parsed JSON, the text if `Content-Type` is not JSON, or undefined if there is no body. */
  jsonOrText(): unknown {
    if (!this.body?.length) return undefined;
    const type = this.head.header('content-type') ?? 'json';
    return type.includes('json') ? this.json() : this.body.text();
  }

  /** Returns the platform's own `Response`, with the body already read. */
  toResponse(): Response {
    const { status } = this.head;
    // These statuses have no body, and the `Response` constructor rejects one (Fetch standard, "null body status").
    const body = status === 204 || status === 205 || status === 304 ? null : this.body?.bytes();
    const headers = this.head.toHeaders();
    // The body is already decoded.
    headers.delete('content-encoding');
    headers.delete('content-length');
    return new Response(body ?? null, { status, headers });
  }
}

/** Names of the fields with arguments that an agent has shown, and that an approver changed. */
const shownArguments: ReadonlySet<string> = new Set(['arguments', 'changedArguments']);

/**
 * End of the names of these fields in JSON. Every page is searched for it, so it is a text that the engine finds fast: one
 * that is short, and begins with a letter that few names have.
 */
const shownArgumentsMark = 'ments"';

/**
 * Parses a response. Whole numbers beyond 2^53 in shown arguments keep their digits, as `JSON.rawJSON` objects, which
 * `JSON.stringify` writes as they were sent: another number, such as the id of another account, would have the same double.
 * Other fields, and runtimes without `JSON.rawJSON`, have numbers.
 */
function parseResponse(text: string): unknown {
  const mayHaveDigits = text.includes(shownArgumentsMark) && /\d{16}/.test(text);
  return mayHaveDigits ? withNumbers(parseJsonForOutput(text)) : JSON.parse(text);
}

/** Replaces exact digits outside shown arguments by numbers. */
function withNumbers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const digits = exactDigitsOf(value);
  if (digits !== undefined) return Number(digits);
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner !== 'object' || inner === null || shownArguments.has(name)) continue;
    const plain = withNumbers(inner);
    if (plain !== inner) (value as Record<string, unknown>)[name] = plain;
  }
  return value;
}

/** Status and headers of a response, independent of the transport. */
export interface ResponseHead {
  readonly status: number;
  /** Returns a header by its lowercase name; repeated headers are joined with `, `. */
  header(name: string): string | undefined;
  /** Returns all headers as the platform's own `Headers`. */
  toHeaders(): Headers;
}

/** Destination of a response body. */
export interface BodySink {
  /** Takes a chunk. A returned promise pauses the sender until it settles; a rejection stops it. */
  write(chunk: Uint8Array): void | Promise<void>;
}

/** Error thrown when a response is larger than its limit. */
export class BodyTooLarge extends Error {}

const decoder = new TextDecoder();

/** Sink that keeps a response in memory, up to a limit. */
export class MemorySink implements BodySink {
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Stores a chunk.
   *
   * @throws BodyTooLarge When the body exceeds the limit.
   */
  write(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length > this.#maxBytes) {
      this.#chunks.length = 0;
      throw new BodyTooLarge(`the response is larger than ${this.#maxBytes} bytes`);
    }
    this.#chunks.push(chunk);
  }

  /** Number of bytes received. */
  get length(): number {
    return this.#length;
  }

  /** Returns all bytes in one array. */
  bytes(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    return whole;
  }

  /** Returns all bytes as UTF-8 text, without a byte order mark. */
  text(): string {
    const [only] = this.#chunks;
    return decoder.decode(this.#chunks.length === 1 ? only : this.bytes());
  }
}
