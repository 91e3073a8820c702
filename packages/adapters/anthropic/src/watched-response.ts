/** A response for the caller, and a copy of what the caller reads of it. */
interface WatchedResponse {
  readonly response: Response;
  readonly copy: Response;
}

/**
 * Lets a stream be seen while the caller reads it, and only as far: a clone would go on to read what the caller has
 * left, and leaving it would wait for the clone. Undefined for a body that is no stream of the platform.
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
        // A reader that brought its own buffer is answered only by this.
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
  // Nothing is read ahead of the caller.
  const passed = isOfBytes
    ? new ReadableStream({ ...source, type: 'bytes' })
    : new ReadableStream(source, { highWaterMark: 0 });
  const init = { status, statusText, headers };
  const callers = Object.defineProperty(new Response(passed as ReadableStream, init), 'url', { value: url });
  return { response: callers, copy: new Response(copy.stream as ReadableStream, init) };
}

type Controller = ReadableStreamDefaultController<unknown> | ReadableByteStreamController;

/** Bytes as a rule; a `fetch` of the user's may give text. */
type Chunk = Uint8Array | string;

function isByteStream(stream: ReadableStream): boolean {
  try {
    stream.getReader({ mode: 'byob' }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

/** A stream that is given its chunks. It takes them even when nobody reads it any more: the caller must not feel it. */
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
      // The caller's stream takes the bytes away.
      this.#controller?.enqueue(chunk.slice());
    } catch (error) {
      this.fail(error); // what a user's `fetch` gives is no chunk
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
