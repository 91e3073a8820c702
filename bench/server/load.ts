import { connect, type Socket } from 'node:net';

/** Result of a load. */
export interface LoadResult {
  readonly requests: number;
  /** Responses with another status than 200 or 202. */
  readonly refused: number;
  readonly durationMs: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Options of a load. */
export interface LoadOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly connections: number;
  /** Time after which no further request is sent. Default: `isDone` decides. */
  readonly durationMs?: number;
  /** Returns `true` if no further request is to be sent. */
  readonly isDone?: () => boolean;
  /** Path of the endpoint. Default: `/v1/events`. */
  readonly path?: string;
  /** Returns the next body. */
  nextBody(): string;
}

/**
 * Sends requests over plain sockets, one at a time on each, for a given time. A client library would cost as much as the
 * measured server; this costs a few microseconds per request.
 */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const { hostname, port } = new URL(options.url);
  const head = `POST ${options.path ?? '/v1/events'} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${options.apiKey}\r\ncontent-type: application/json\r\ncontent-length: `;
  const latenciesMs: number[] = [];
  let refused = 0;
  const startedMs = performance.now();
  const { durationMs: forMs = Number.POSITIVE_INFINITY, isDone = () => false } = options;
  const endMs = startedMs + forMs;
  await Promise.all(
    Array.from({ length: options.connections }, () => {
      const socket = connect(Number(port), hostname).setNoDelay();
      return new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        let sentMs = 0;
        const send = (): void => {
          const body = options.nextBody();
          sentMs = performance.now();
          socket.write(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`);
        };
        onAnswer(socket, (status) => {
          const nowMs = performance.now();
          latenciesMs.push(nowMs - sentMs);
          if (status !== 202 && status !== 200) refused += 1;
          if (nowMs < endMs && !isDone()) return send();
          socket.destroy();
          resolve();
        });
        socket.once('connect', send);
      });
    }),
  );
  const durationMs = performance.now() - startedMs;
  latenciesMs.sort((left, right) => left - right);
  const quantile = (share: number) => latenciesMs[Math.floor((latenciesMs.length - 1) * share)] ?? 0;
  return {
    requests: latenciesMs.length,
    refused,
    durationMs,
    requestsPerSecond: (latenciesMs.length / durationMs) * 1000,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    maxMs: quantile(1),
  };
}

/** Calls `done` with the status of every complete response. */
function onAnswer(socket: Socket, done: (status: number) => void): void {
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
    const headEnd = text.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (text.length < headEnd + 4 + length) return;
    const status = Number(text.slice(9, 12));
    text = text.slice(headEnd + 4 + length);
    done(status);
  });
}
