import type { Socket } from 'node:net';
import { nextTick } from 'node:process';
import type { EventDispatcher } from './dispatch-transport.ts';

/** Connections that nobody else uses. */
export interface EventPool extends EventDispatcher {
  /** Closes them; what is in flight ends with an error. */
  destroy(): Promise<void>;
}

/** Size of a pool. */
export interface EventPoolOptions {
  readonly connections: number;
  /** Most requests under way on one connection. */
  readonly pipelining: number;
}

/**
 * A pool of connections that never keeps the process alive, not even while an answer is awaited: a service that hangs
 * would otherwise hold an agent that is done. undici is loaded here, when there is something to send.
 */
export async function createEventPool(
  origin: string,
  { connections, pipelining }: EventPoolOptions,
): Promise<EventPool> {
  const { buildConnector, Pool } = await import('undici').catch(notLoaded);
  const connect = buildConnector({ allowH2: false, timeout: 10_000 });
  const connectUnreferenced: typeof connect = (options, callback) => {
    // What undici's types leave out: the connector returns the socket that it opens.
    const socket = connect(options, callback) as unknown as Socket | undefined;
    if (socket) {
      socket.unref();
      // undici references a socket again for each request.
      socket.ref = () => socket;
      if (pipelining > 1) coalesceWrites(socket);
    }
    return socket;
  };
  const pool = new Pool(origin, { connections, pipelining, allowH2: false, connect: connectUnreferenced });
  return pool as unknown as EventPool;
}

/** Bundlers that put a CommonJS package into an ES module, as esbuild does, leave it without the modules of Node. */
function notLoaded(cause: unknown): never {
  const problem = cause instanceof Error ? cause.message : 'it threw';
  throw new Error(
    `Nothing is delivered: undici cannot be loaded (${problem}). Leave it out of the bundle, as --external:undici does, or pass fetch: globalThis.fetch.`,
    { cause },
  );
}

/** Has requests that are written in one turn leave in one go: a system call costs more than the rest of an event. */
function coalesceWrites(socket: Socket): void {
  const cork = socket.cork.bind(socket);
  let isHeld = false;
  const release = () => {
    isHeld = false;
    socket.uncork();
  };
  socket.cork = () => {
    if (!isHeld) {
      isHeld = true;
      cork();
      nextTick(release);
    }
    cork();
  };
}
