/** A response for the caller, and a copy of everything the caller reads. */
interface WatchedResponse {
  readonly response: Response;
  readonly copy: Response;
}

/**
 * Copies a stream as the caller reads it, and no further: a clone would continue to read after the caller has stopped,
 * and canceling would wait for the clone. Undefined if the body is not a platform stream.
 */
export function watched(response: Response): WatchedResponse | undefined {
  const { body, status, statusText, headers, url } = response;
  if (!(body instanceof ReadableStream)) return undefined;
  const isOfBytes = isByteStream(body);
  const reader = body.getReader() as ReadableStreamDefaultReader<Chunk>;
  const copy = new Copy();
  const source = {
    async pull(controller: Controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        copy.fail(error);
        throw error;
      });
      if (done) {
        copy.end();
        controller.close();
        // A BYOB reader only gets its response this way.
        if ('byobRequest' in controller) controller.byobRequest?.respond(0);
        return;
      }
      copy.add(value);
      controller.enqueue(value as never);
    },
    cancel(reason: unknown) {
      copy.end();
      return reader.cancel(reason);
    },
  };
  // Read nothing ahead of the caller.
  const passed = isOfBytes
    ? new ReadableStream({ ...source, type: 'bytes' })
    : new ReadableStream(source, { highWaterMark: 0 });
  const init = { status, statusText, headers };
  const callers = Object.defineProperty(new Response(passed as ReadableStream, init), 'url', { value: url });
  return { response: callers, copy: new Response(copy.stream as ReadableStream, init) };
}

type Controller = ReadableStreamDefaultController<unknown> | ReadableByteStreamController;

/** Usually bytes; a user's `fetch` may return text. */
type Chunk = Uint8Array | string;

function isByteStream(stream: ReadableStream): boolean {
  try {
    stream.getReader({ mode: 'byob' }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

/** A stream that is fed with chunks. Accepts them even when nobody reads it any more: the caller must be unaffected. */
class Copy {
  #controller: ReadableStreamDefaultController<Chunk> | undefined;
  readonly stream = new ReadableStream<Chunk>({
    start: (controller) => {
      this.#controller = controller;
    },
    cancel: () => {
      this.#controller = undefined;
    },
  });

  add(chunk: Chunk): void {
    try {
      // The caller's stream detaches the bytes.
      this.#controller?.enqueue(chunk.slice());
    } catch (error) {
      this.fail(error); // a user's `fetch` returned an invalid chunk
    }
  }

  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  fail(error: unknown): void {
    this.#controller?.error(error);
    this.#controller = undefined;
  }
}
