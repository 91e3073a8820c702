import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { Actlog } from '@actlog/client';
import { endpoints } from '@actlog/protocol';
import { detached } from '../lib/abort.ts';
import { timers } from '../lib/timers.ts';
import { sdkName } from '../version.ts';
import { DispatchTransport, type EventDispatcher } from './dispatch-transport.ts';
import { createEventPool, ProvenPipelining } from './event-pool.ts';
import { type OriginKey, parseOriginKey } from './queued-event.ts';
import { acceptedStatus, maxErrorBodyBytes, type SendResult, type Transport } from './send-result.ts';

/** Number of pipelined requests per connection, once pipelining has proved to work. */
const provenDepth = 16;
/** Maximum number of origins with cached headers; more than any process has. */
const maxOrigins = 100;

/** Options of the delivery. */
export interface ConnectionSettings {
  readonly concurrency: number;
  /** Undefined for automatic. */
  readonly pipelining: number | undefined;
  readonly requestTimeoutMs: number;
}

/** Provides transports and headers for events, from the client's configuration. */
export class ServiceConnection {
  readonly #client: Actlog;
  readonly #settings: ConnectionSettings;
  readonly #headers = new Map<OriginKey, Readonly<Record<string, string>>>();

  constructor(client: Actlog, settings: ConnectionSettings) {
    this.#client = client;
    this.#settings = settings;
  }

  /** Loads the transport. */
  async connect(): Promise<Transport> {
    const url = new URL(this.#client.baseURL + endpoints['events.create'].path);
    const { pipelining, requestTimeoutMs: timeoutMs } = this.#settings;
    if (this.#client.usesDefaultPool) {
      if (pipelining !== undefined) return this.#pool(url, pipelining);
      const [single, pipelined] = await Promise.all([this.#pool(url, 1), this.#pool(url, provenDepth)]);
      return new ProvenPipelining({ single, pipelined, now: () => timers.now() });
    }
    // The user configured the transport, so it is used unchanged.
    const dispatcher = (await this.#client.dispatcher().catch(notSetUp)) as EventDispatcher | undefined;
    if (dispatcher) return new DispatchTransport({ dispatcher, url, timeoutMs, pipelining: 1 });
    return new FetchTransport({ fetch: this.#client.fetch ?? globalThis.fetch, url, timeoutMs });
  }

  /** Creates a pool of our own, whose connections open on demand. */
  async #pool(url: URL, pipelining: number): Promise<Transport> {
    const { concurrency, requestTimeoutMs: timeoutMs } = this.#settings;
    const connections = Math.ceil(concurrency / pipelining);
    const pool = await createEventPool(url.origin, { connections, pipelining });
    const disconnect = () => void pool.destroy().catch(() => {});
    return new DispatchTransport({ dispatcher: pool, url, timeoutMs, pipelining, disconnect });
  }

  /** Returns the headers for events of one origin. */
  headersFor(key: OriginKey): Readonly<Record<string, string>> {
    const known = this.#headers.get(key);
    if (known) return known;
    const made = this.#makeHeaders(key);
    if (this.#headers.size >= maxOrigins) this.#headers.clear();
    this.#headers.set(key, made);
    return made;
  }

  #makeHeaders(key: OriginKey): Readonly<Record<string, string>> {
    try {
      const { framework, sdk = sdkName, agentVersion } = parseOriginKey(key);
      const changes = { ...(framework ? { framework } : {}), ...(agentVersion ? { agentVersion } : {}) };
      return this.#client.withOptions({ ...changes, sdk }).headers();
    } catch {
      // Omit values that are invalid in a header: the event matters more.
      return this.#client.headers();
    }
  }
}

function notSetUp({ message }: Error): never {
  throw new Error(`Nothing is delivered: ${message}`);
}

/**
 * Interval of the checks in milliseconds, and thereby the minimum wait. Events recorded meanwhile are sent together.
 */
const lookEveryMs = 50;
/** Maximum wait in milliseconds. */
const longestMs = 500;
/** Event loop utilization above which the process counts as busy. */
const busyShare = 0.5;

/**
 * Waits for the next moment in which the event loop is idle, for example while the agent waits for its model. Sending
 * then slows down no call, and requests sent together share system calls. If the process is never idle, the wait ends
 * after half a second.
 */
export class IdleMoment {
  readonly #onCome: () => void;
  #timer: NodeJS.Timeout | undefined;
  #looks = 0;
  #before: EventLoopUtilization | undefined;
  readonly #lookLater = () => timers.setTimeout(this.#look, lookEveryMs).unref();
  readonly #look = () => {
    this.#looks += 1;
    // Some runtimes return undefined or 0.
    const { utilization } = performance.eventLoopUtilization?.(this.#before) ?? { utilization: 0 };
    if (utilization > busyShare && this.#looks * lookEveryMs < longestMs) this.#wait();
    else {
      this.#timer = undefined;
      this.#onCome();
    }
  };

  constructor(onCome: () => void) {
    this.#onCome = onCome;
  }

  /** `true` while waiting. */
  get isAwaited(): boolean {
    return this.#timer !== undefined;
  }

  /** Starts waiting, unless already waiting. */
  await(): void {
    if (this.#timer) return;
    this.#looks = 0;
    this.#wait();
  }

  /** Stops waiting. */
  cancel(): void {
    timers.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(): void {
    this.#before = performance.eventLoopUtilization?.();
    this.#timer = detached(this.#lookLater);
  }
}

/** Options of a `FetchTransport`. */
interface FetchTransportOptions {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Address of `POST /v1/events`. */
  readonly url: URL;
  /** Maximum time until the complete response, in milliseconds. */
  readonly timeoutMs: number;
}

/** Posts events through `fetch`, for runtimes without undici and for users who pass their own. */
export class FetchTransport implements Transport {
  readonly #options: FetchTransportOptions;
  readonly #inFlight = new Set<AbortController>();

  constructor(options: FetchTransportOptions) {
    this.#options = options;
  }

  send(body: string, headers: Readonly<Record<string, string>>, done: (result: SendResult) => void): void {
    this.#post(body, headers).then(done, (error: Error) => done({ error }));
  }

  abort(): void {
    for (const controller of [...this.#inFlight]) controller.abort();
  }

  async #post(body: string, headers: Readonly<Record<string, string>>): Promise<SendResult> {
    const { fetch, url, timeoutMs } = this.#options;
    const controller = new AbortController();
    const timer = timers.setTimeout(() => controller.abort(timedOut()), timeoutMs);
    this.#inFlight.add(controller);
    try {
      const response = await fetch(url.href, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal: controller.signal,
      });
      if (response.status === acceptedStatus) {
        // The status is sufficient, even if the body breaks off.
        await response.body?.cancel().catch(() => {});
        return { status: response.status };
      }
      const text = (await response.text().catch(() => '')).slice(0, maxErrorBodyBytes);
      return {
        status: response.status,
        retryAfter: response.headers.get('retry-after') ?? undefined,
        body: text,
      };
    } finally {
      timers.clearTimeout(timer);
      this.#inFlight.delete(controller);
    }
  }
}

function timedOut(): DOMException {
  return new DOMException('The service sent no complete response in time.', 'TimeoutError');
}
