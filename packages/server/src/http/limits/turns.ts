import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { endpoints } from '@actlog/protocol';
import type { RequestMemory, ReservedMemory } from './request-memory.ts';

/** Number of waiting requests on one connection at which it stops reading. */
const pauseThreshold = 16;

/** Memory of a request before its body is read, in bytes: its parsed head and the response object. */
const pipelinedBytes = 8 * 1024;

/** Requests started per turn of the event loop, besides events and health checks: some milliseconds of work. */
const startsPerTurn = 32;

/** Number of checks for unread responses per timeout. */
const checksPerTimeout = 4;

/** A request that waits for earlier requests on its connection. */
interface Waiting {
  readonly isSmall: boolean;
  readonly start: () => void;
}

/** State of a connection, kept on its socket. With thousands of connections, a map would miss the processor's cache. */
class Connection {
  readonly socket: Socket;
  /** Number of started requests whose responses are not yet written. */
  open = 0;
  /** `true` while the open request is one with a possibly large response. */
  isExclusive = false;
  readonly waiting: Waiting[] = [];
  /** Memory of the pipelined requests, all but the first. */
  pipelined: ReservedMemory | undefined;
  isPaused = false;
  /** `true` while the socket has a timeout that closes the connection unless its peer reads. */
  hasUnreadTimeout = false;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** `true` if a request can start now. */
  takes(isSmall: boolean): boolean {
    return this.open === 0 || (isSmall && !this.isExclusive);
  }
}

const state = Symbol('connection');

type TrackedSocket = Socket & { [state]?: Connection };

/** Options for {@link ConnectionTurns}. */
export interface ConnectionTurnsOptions {
  /** Limits the memory of pipelined requests. */
  readonly memory: RequestMemory;
  /** Time after which a connection with an unread response is closed, in milliseconds. */
  readonly unreadTimeoutMs: number;
}

/**
 * Starts the requests of each connection one at a time, so a peer that pipelines requests for large pages without
 * reading occupies memory for one response. Only event requests overlap, because their responses are a few hundred
 * bytes and their commits are shared. Closes connections whose peers do not read.
 */
export class ConnectionTurns {
  readonly #memory: RequestMemory;
  readonly #unreadTimeoutMs: number;
  readonly #connections = new Set<Connection>();
  readonly #starts = new LoopTurns(startsPerTurn);
  readonly #timer: NodeJS.Timeout;

  constructor({ memory, unreadTimeoutMs }: ConnectionTurnsOptions) {
    this.#memory = memory;
    this.#unreadTimeoutMs = unreadTimeoutMs;
    this.#timer = setInterval(() => this.#findUnread(), unreadTimeoutMs / checksPerTimeout).unref();
  }

  /**
   * Calls `start` once the earlier requests of the connection have been responded to; `leave` ends the request. When
   * pipelined requests take too much memory, the connection is closed instead, and its peer sends the unanswered
   * requests again (RFC 9112, section 9.3.2).
   */
  enter(request: IncomingMessage, start: () => void): void {
    const socket = request.socket as TrackedSocket;
    // Node parses all bytes that have arrived, even after the connection was closed.
    if (socket.destroyed) return;
    const connection = socket[state] ?? this.#track(socket);
    const isSmall = hasSmallResponse(request);
    const isImmediate = isSmall || request.url === '/healthz';
    if (connection.open + connection.waiting.length > 0 && !this.#reservePipelined(connection)) {
      socket.destroy();
      return;
    }
    if (connection.waiting.length === 0 && connection.takes(isSmall)) {
      begin(connection, isSmall);
      const turn = isImmediate ? undefined : this.#starts.take();
      if (turn) void turn.then(start);
      else start();
      return;
    }
    connection.waiting.push({ isSmall, start });
    if (connection.waiting.length >= pauseThreshold) pause(connection);
  }

  /** Ends a started request whose response is written. */
  leave({ socket }: IncomingMessage): void {
    const connection = (socket as TrackedSocket)[state];
    if (connection && !socket.destroyed) this.#end(connection);
  }

  /** Stops checking for unread responses. */
  close(): void {
    clearInterval(this.#timer);
  }

  #track(socket: TrackedSocket): Connection {
    const connection = new Connection(socket);
    socket[state] = connection;
    this.#connections.add(connection);
    socket.once('close', () => {
      connection.waiting.length = 0;
      connection.pipelined?.release();
      this.#connections.delete(connection);
    });
    return connection;
  }

  #reservePipelined(connection: Connection): boolean {
    connection.pipelined ??= this.#memory.tryReserve(0);
    return connection.pipelined?.tryResize(connection.pipelined.bytes + pipelinedBytes) ?? false;
  }

  #end(connection: Connection): void {
    const { waiting, pipelined } = connection;
    connection.open -= 1;
    if (connection.open === 0) connection.isExclusive = false;
    pipelined?.resize(Math.max(0, connection.open + waiting.length - 1) * pipelinedBytes);
    // An idle connection has the keep-alive timeout that Node sets.
    if (connection.hasUnreadTimeout) clearUnreadTimeout(connection, connection.open + waiting.length > 0);
    while (waiting[0] && connection.takes(waiting[0].isSmall)) {
      const { isSmall, start } = waiting.shift() as Waiting;
      begin(connection, isSmall);
      const turn = this.#starts.take();
      if (turn) void turn.then(start);
      else start();
    }
    unpause(connection);
  }

  /**
   * Sets a timeout on each socket with bytes that its peer does not accept. Node closes the socket when nothing was
   * written for that time. The socket is paused, so bytes that the peer sends meanwhile do not reset the timeout.
   */
  #findUnread(): void {
    for (const connection of this.#connections) {
      const isUnread = connection.socket.writableLength > 0;
      if (isUnread && !connection.hasUnreadTimeout) {
        connection.hasUnreadTimeout = true;
        connection.socket.setTimeout(this.#unreadTimeoutMs);
        pause(connection);
      } else if (!isUnread && connection.hasUnreadTimeout) {
        clearUnreadTimeout(connection, true);
        unpause(connection);
      }
    }
  }
}

/** `true` for requests with a response of a few hundred bytes, whatever the data. */
function hasSmallResponse({ method, url }: IncomingMessage): boolean {
  return method === endpoints['events.create'].method && url === endpoints['events.create'].path;
}

function begin(connection: Connection, isSmall: boolean): void {
  connection.open += 1;
  connection.isExclusive = !isSmall;
}

function clearUnreadTimeout(connection: Connection, isInUse: boolean): void {
  connection.hasUnreadTimeout = false;
  if (isInUse) connection.socket.setTimeout(0);
}

/**
 * Pauses a socket after the bytes that have arrived are parsed, because the end of each request makes Node resume it.
 */
function pause(connection: Connection): void {
  connection.isPaused = true;
  process.nextTick(() => {
    if (connection.isPaused) connection.socket.pause();
  });
}

function unpause(connection: Connection): void {
  if (!connection.isPaused || connection.hasUnreadTimeout || connection.waiting.length >= pauseThreshold)
    return;
  connection.isPaused = false;
  connection.socket.resume();
}

/**
 * Limits the pieces of work that run per turn of the event loop, so that other work, such as a health check, waits for
 * at most that many.
 */
export class LoopTurns {
  readonly #perTurn: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
  }

  /** Returns a promise that resolves when the work may run, or `undefined` if it may run at once. */
  take(): Promise<void> | undefined {
    if (this.#taken >= this.#perTurn) return new Promise((resolve) => this.#waiting.push(resolve));
    if (this.#taken === 0) setImmediate(this.#next);
    this.#taken += 1;
    return undefined;
  }

  readonly #next = (): void => {
    const resolves = this.#waiting.splice(0, this.#perTurn);
    this.#taken = resolves.length;
    if (resolves.length === 0) return;
    setImmediate(this.#next);
    for (const resolve of resolves) resolve();
  };
}
