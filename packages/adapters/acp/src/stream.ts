import type { Message } from './messages.ts';

/** A `Stream` of `@agentclientprotocol/sdk`, such as `ndJsonStream` returns. */
export interface AcpStream {
  readonly readable: ReadableStream<unknown>;
  readonly writable: WritableStream<unknown>;
}

/** Handlers of the messages of a stream. */
export interface Passage {
  /** Receives what the other side sent. */
  readonly incoming: (message: Message) => void;
  /** Receives what this side sends. */
  readonly outgoing: (message: Message) => void;
  /** Called once, when the connection has ended. */
  readonly close: () => void;
}

/** Functions that pass messages on. */
export interface Outlets {
  /** Passes a message to this side. */
  readonly receive: (message: Message) => void;
  /** Passes a message to the other side. */
  readonly send: (message: Message) => void;
}

/**
 * Returns a stream whose messages go through functions, which pass on each when they want.
 *
 * @param createPassage - called once
 */
export function passing<Stream extends AcpStream>(
  stream: Stream,
  createPassage: (outlets: Outlets) => Passage,
): Stream {
  const reader = stream.readable.getReader();
  const writer = stream.writable.getWriter();
  let inbound: ReadableStreamDefaultController<unknown> | undefined;
  let sent: Promise<void> = Promise.resolve();
  let isClosed = false;
  const passage = createPassage({
    receive: (message) => {
      if (!isClosed) inbound?.enqueue(message);
    },
    send: (message) => {
      sent = writer.write(message);
      sent.catch(() => {}); // reported to whoever awaits the write
    },
  });
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    passage.close();
  };
  const readable = new ReadableStream<unknown>({
    start(controller) {
      inbound = controller;
    },
    async pull(controller) {
      // A message that is not passed on at once does not end a pull, so the next one is read.
      while ((controller.desiredSize ?? 0) > 0) {
        const next = await reader.read().catch((error: unknown) => {
          close();
          throw error;
        });
        if (next.done) {
          close();
          controller.close();
          return;
        }
        passage.incoming(next.value as Message);
      }
    },
    async cancel(reason) {
      close();
      await reader.cancel(reason);
    },
  });
  const writable = new WritableStream<unknown>({
    async write(message) {
      passage.outgoing(message as Message);
      await sent;
    },
    async close() {
      await writer.close();
    },
    async abort(reason) {
      close();
      await writer.abort(reason);
    },
  });
  return { ...stream, readable, writable };
}
