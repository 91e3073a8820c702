import type { Socket } from 'node:net';
import { nextTick } from 'node:process';
import { loadUndici } from '@actlog/client/undici';
import { timers } from '../lib/timers.ts';
import type { EventDispatcher } from './dispatch-transport.ts';
import type { SendResult, Transport } from './send-result.ts';

/** A pool of connections that nobody else uses. */
export interface EventPool extends EventDispatcher {
  /** Closes the connections; requests in flight end with an error. */
  destroy(): Promise<void>;
}

/** Options of an event pool. */
export interface EventPoolOptions {
  readonly connections: number;
  /** Maximum number of requests in flight per connection. */
  readonly pipelining: number;
}

/**
 * Creates a pool of connections that never keeps the process alive, not even while a response is pending: an
 * unresponsive service would otherwise block an agent that is done. Loads undici on first use.
 */
export async function createEventPool(
  origin: string,
  { connections, pipelining }: EventPoolOptions,
): Promise<EventPool> {
  const { buildConnector, Pool } = await loadUndici().catch(notLoaded);
  const connect = buildConnector({ allowH2: false, timeout: 10_000 });
  const connectUnreferenced: typeof connect = (options, callback) => {
    // Missing in undici's types: the connector returns the socket that it opens.
    const socket = connect(options, callback) as unknown as Socket | undefined;
    if (socket) {
      socket.unref();
      // For a name with several addresses, Node creates a new handle per attempt.
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
  /** Closes each connection when its requests in flight have ended. */
  close(): Promise<void>;
}

/**
 * A pool that also works in tests with fake timers. undici waits for the global `setImmediate` before it reuses a
 * connection, and a fake one never fires. So each request gets its own connection then, and connections that have seen
 * a fake are not used after the real one is back.
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

/** Thrown on an older Node, and in an ES module bundle, where esbuild provides no Node modules. */
function notLoaded(cause: unknown): never {
  const problem = cause instanceof Error ? cause.message : 'it threw';
  throw new Error(
    `Nothing is delivered: undici cannot be loaded (${problem}). Use Node.js 22.19 or newer, exclude undici from the bundle (--external:undici), or pass fetch: globalThis.fetch.`,
    { cause },
  );
}

/** Combines requests written in one turn into one system call, which costs more than the rest of an event. */
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

/**
 * Returns `true` if a test has replaced the global `setImmediate` with a fake. Those of `@sinonjs/fake-timers` (jest,
 * Vitest) have a `clock`; those of `node:test` are bound functions. Other replacements, such as those of monitoring
 * tools, do call back.
 */
export function isImmediateFaked(): boolean {
  const { setImmediate } = globalThis;
  // Browser-like environments have no `setImmediate`.
  if (setImmediate === undefined || setImmediate === timers.setImmediate) return false;
  return 'clock' in setImmediate || setImmediate.name.startsWith('bound ');
}

/** Number of consecutive fast responses after which the path counts as near and reliable. */
const provenBy = 32;
/**
 * Slower responses come from far away, where an intermediary that serializes pipelined requests costs more time than
 * pipelining saves CPU.
 */
const nearMs = 25;
/** Pause of pipelining after a pipelined request got no response, in milliseconds; doubles each time. */
const initialRestMs = 60_000;
const maxRestMs = 60 * 60_000;
/** Number of pipelined responses after which earlier failures are forgotten. */
const forgottenAfter = 10_000;

/** Dependencies of a {@link ProvenPipelining}. */
interface ProvenPipeliningOptions {
  /** Sends one event at a time per connection. */
  readonly single: Transport;
  /** Sends several at a time per connection. */
  readonly pipelined: Transport;
  /** Returns monotonic milliseconds. */
  readonly now: () => number;
}

/**
 * Pipelines events (RFC 9112, section 9.3.2) where that works, which halves their cost: starts with single requests,
 * switches to pipelining once the path has proved to be near, and back when a request gets no response. An event has an
 * id, so one that is sent twice because of this is stored once.
 */
export class ProvenPipelining implements Transport {
  readonly #options: ProvenPipeliningOptions;
  #provenResponses = 0;
  #pipelinedResponses = 0;
  #restMs = initialRestMs;
  #restsUntilMs = 0;

  constructor(options: ProvenPipeliningOptions) {
    this.#options = options;
  }

  send(body: string, headers: Readonly<Record<string, string>>, done: (result: SendResult) => void): void {
    if (this.#provenResponses >= provenBy) this.#sendPipelined(body, headers, done);
    else this.#sendSingly(body, headers, done);
  }

  abort(): void {
    this.#options.single.abort();
    this.#options.pipelined.abort();
  }

  #sendPipelined(
    body: string,
    headers: Readonly<Record<string, string>>,
    done: (result: SendResult) => void,
  ): void {
    this.#options.pipelined.send(body, headers, (result) => {
      if (result.status === undefined) this.#rest();
      else if (++this.#pipelinedResponses >= forgottenAfter) this.#restMs = initialRestMs;
      done(result);
    });
  }

  #sendSingly(
    body: string,
    headers: Readonly<Record<string, string>>,
    done: (result: SendResult) => void,
  ): void {
    const { single, now } = this.#options;
    const sentAtMs = now();
    single.send(body, headers, (result) => {
      const nowMs = now();
      const isFast = result.status !== undefined && result.status < 300 && nowMs - sentAtMs <= nearMs;
      if (!isFast) this.#provenResponses = 0;
      else if (nowMs >= this.#restsUntilMs) this.#provenResponses += 1;
      done(result);
    });
  }

  #rest(): void {
    // Requests that were in flight together count as one signal.
    if (this.#provenResponses < provenBy) return;
    this.#provenResponses = 0;
    this.#pipelinedResponses = 0;
    this.#restsUntilMs = this.#options.now() + this.#restMs;
    this.#restMs = Math.min(maxRestMs, this.#restMs * 2);
  }
}
