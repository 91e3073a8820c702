import { headers } from '@actlog/protocol';
import { redactKeys } from './api-key.ts';
import type { MemorySink } from './body-sink.ts';
import { ResponseShapeError } from './errors/response-shape-error.ts';
import type { ResponseHead } from './response-head.ts';

/** The request that an answer belongs to, as errors name it. */
export interface RequestName {
  readonly method: string;
  /** Path without query. */
  readonly path: string;
}

/** An answer that came in whole. */
export class Answer {
  readonly request: RequestName;
  readonly head: ResponseHead;
  /** Undefined where the body went elsewhere, or broke off behind an error status. */
  readonly body: MemorySink | undefined;
  /** Which try it answered, from 1. */
  readonly attempt: number;

  constructor(request: RequestName, head: ResponseHead, body: MemorySink | undefined, attempt: number) {
    this.request = request;
    this.head = head;
    this.body = body;
    this.attempt = attempt;
  }

  /** The answer's `x-request-id`, without a key that the service may have echoed. */
  get requestId(): string | undefined {
    const id = this.head.header(headers.requestId)?.slice(0, 200);
    return id && redactKeys(id);
  }

  /** What an error about this answer knows. */
  context(cause?: unknown) {
    const { request, head, requestId, attempt } = this;
    return { ...request, status: head.status, requestId, attempts: attempt, cause };
  }

  /** An error that says how the answer differs from the specification. */
  shapeError(problem: string, cause?: unknown): ResponseShapeError {
    const { method, path } = this.request;
    return new ResponseShapeError(
      `${method} ${path} answered ${this.head.status} with ${problem}.`,
      this.context(cause),
    );
  }

  /** Whether it came without a body, as with status 204. */
  get isEmpty(): boolean {
    return !this.body?.length;
  }

  /**
   * The body as JSON.
   *
   * @throws ResponseShapeError When it is none. The message never shows any of it.
   */
  json(): unknown {
    if (!this.body?.length) throw this.shapeError('an empty body, where JSON was expected');
    try {
      return JSON.parse(this.body.text());
    } catch {
      // The parser's own message quotes the body, so it is not passed on.
      const type = this.head.header('content-type')?.slice(0, 100) ?? 'no content type';
      throw this.shapeError(`a body that is not JSON (${type}, ${this.body.length} bytes)`);
    }
  }

  /**
   * The body as a JSON object.
   *
   * @throws ResponseShapeError When it is none.
   */
  jsonObject(): Record<string, unknown> {
    const value = this.json();
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
    const kind = Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`;
    throw this.shapeError(`${kind}, where a JSON object was expected`);
  }

  /** The body as JSON, as text where its type says that it is something else, undefined where there is none. */
  jsonOrText(): unknown {
    if (!this.body?.length) return undefined;
    const type = this.head.header('content-type') ?? 'json';
    return type.includes('json') ? this.json() : this.body.text();
  }

  /** The answer as the platform's own `Response`, its body already read. */
  toResponse(): Response {
    const { status } = this.head;
    // These carry no body, and `Response` refuses one (Fetch standard, "null body status").
    const body = status === 204 || status === 205 || status === 304 ? null : this.body?.bytes();
    const headers = this.head.toHeaders();
    // The bytes are decoded already.
    headers.delete('content-encoding');
    headers.delete('content-length');
    return new Response(body ?? null, { status, headers });
  }
}
