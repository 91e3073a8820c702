import type { Socket } from 'node:net';
import { nextTick } from 'node:process';
import type { EventDispatcher } from './dispatch-transport.ts';
import { isImmediateFaked } from './faked-immediate.ts';

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
      // Where a name has several addresses, Node makes a new handle for each that it tries.
      socket.on('connectionAttempt', () => socket.unref());
      // undici references a socket again for each request.
      socket.ref = () => socket;
      if (pipelining > 1) coalesceWrites(socket);
    }
    return socket;
  };
  const settings = { connections, pipelining, allowH2: false, connect: connectUnreferenced };
  return new RenewedPool(() => new Pool(origin, settings) as unknown as ClosablePool);
}

interface ClosablePool extends EventPool {
  /** Closes each connection when what is in flight on it has ended. */
  close(): Promise<void>;
}

/**
 * A pool that delivers in tests with fake timers too: undici waits for the global `setImmediate` before it uses a
 * connection again, and for a faked one it waits in vain. So each request has a connection of its own then, and
 * connections that have seen a fake are not used when the real one is back.
 */
class RenewedPool implements EventPool {
  readonly #open: () => ClosablePool;
  #pool: ClosablePool;
  #isFaked = isImmediateFaked();

  constructor(open: () => ClosablePool) {
    this.#open = open;
    this.#pool = open();
  }

  dispatch(options: Record<string, unknown>, handler: object): boolean {
    if (isImmediateFaked() !== this.#isFaked) this.#renew();
    return this.#pool.dispatch(this.#isFaked ? { ...options, reset: true } : options, handler);
  }

  destroy(): Promise<void> {
    return this.#pool.destroy();
  }

  #renew(): void {
    this.#isFaked = !this.#isFaked;
    void this.#pool.close().catch(() => {});
    this.#pool = this.#open();
  }
}

/** An older Node, and a bundle that is an ES module, which esbuild leaves without the modules of Node. */
function notLoaded(cause: unknown): never {
  const problem = cause instanceof Error ? cause.message : 'it threw';
  throw new Error(
    `Nothing is delivered: undici cannot be loaded (${problem}). Use Node.js 22.19 or newer, leave undici out of the bundle, as --external:undici does, or pass fetch: globalThis.fetch.`,
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
