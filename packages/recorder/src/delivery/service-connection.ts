import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { Actlog } from '@actlog/client';
import { type BodySink, Exchange, type Transport } from '@actlog/client/transport';
import { endpoints, headers as headerNames } from '@actlog/protocol';
import { LinkedList } from '../lib/linked-list.ts';
import { detached, timers } from '../lib/timers.ts';
import { sdkName } from '../version.ts';
import { acceptedStatus, type EventSender, maxErrorBodyBytes, type SendResult } from './send-result.ts';
import { type OriginKey, parseOriginKey, splitTraceparent } from './session-queues.ts';

/** Maximum number of origins with cached headers; more than any process has. */
const maxOrigins = 100;

/** Options of the delivery. */
export interface ConnectionSettings {
  readonly concurrency: number;
  readonly requestTimeoutMs: number;
}

/** Provides the sender and the headers of events, from the client's configuration. */
export class ServiceConnection {
  readonly #client: Actlog;
  readonly #settings: ConnectionSettings;
  readonly #headers = new Map<OriginKey, Readonly<Record<string, string>>>();

  constructor(client: Actlog, settings: ConnectionSettings) {
    this.#client = client;
    this.#settings = settings;
  }

  /** Loads the transport. Its connections open on demand. */
  async connect(): Promise<EventSender> {
    const { concurrency, requestTimeoutMs } = this.#settings;
    const transport = await this.#client.openTransport(concurrency).catch(notSetUp);
    const url = new URL(this.#client.baseURL + endpoints['events.create'].path);
    return new TransportSender(transport, url, requestTimeoutMs);
  }

  /** Returns the headers for events of one origin. */
  headersFor(key: OriginKey): Readonly<Record<string, string>> {
    const [origin, traceparent] = splitTraceparent(key);
    const headers = this.#headersOf(origin);
    return traceparent === undefined ? headers : { ...headers, [headerNames.callTraceparent]: traceparent };
  }

  #headersOf(key: OriginKey): Readonly<Record<string, string>> {
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

/** Sends events over a transport of the client. */
export class TransportSender implements EventSender {
  readonly #transport: Transport;
  readonly #origin: string;
  readonly #target: string;
  readonly #timeoutMs: number;
  /** Requests in flight, oldest first. */
  readonly #inFlight = new LinkedList<EventExchange>();
  /** Timer of the oldest request: one for all costs less than one for each. */
  #timer: NodeJS.Timeout | undefined;
  readonly #onTime = () => {
    this.#timer = undefined;
    // A response that arrived while the event loop was blocked is read before the immediate runs.
    timers.setImmediate(this.#giveUp);
  };
  readonly #giveUp = () => {
    const latestMs = timers.now() - this.#timeoutMs;
    for (const exchange of [...this.#inFlight]) {
      if (exchange.startedAtMs > latestMs) break;
      exchange.abort(timedOut());
    }
    this.#watch();
  };

  /**
   * @param url - address of `POST /v1/events`
   * @param timeoutMs - maximum time until the complete response
   */
  constructor(transport: Transport, url: URL, timeoutMs: number) {
    this.#transport = transport;
    this.#origin = url.origin;
    this.#target = url.pathname + url.search;
    this.#timeoutMs = timeoutMs;
  }

  send(body: string, headers: Readonly<Record<string, string>>, done: (result: SendResult) => void): void {
    const exchange = new EventExchange(timers.now());
    const node = this.#inFlight.push(exchange);
    this.#watch();
    const settle = (error?: Error) => {
      this.#inFlight.remove(node);
      done(exchange.result(error));
    };
    const request = { method: 'POST', origin: this.#origin, target: this.#target, headers, body };
    this.#transport.send(request, exchange).then(settle as () => void, settle);
  }

  abort(): void {
    const reason = Object.assign(new Error('The recorder aborted the request.'), { name: 'AbortError' });
    for (const exchange of [...this.#inFlight]) exchange.abort(reason);
    void this.#transport.close?.().catch(() => {});
  }

  #watch(): void {
    const oldest = this.#inFlight.first;
    if (this.#timer || !oldest) return;
    const leftMs = oldest.startedAtMs + this.#timeoutMs - timers.now();
    this.#timer = timers.setTimeout(this.#onTime, Math.max(1, leftMs)).unref();
  }
}

function timedOut(): DOMException {
  return new DOMException('The service sent no complete response in time.', 'TimeoutError');
}

/** One request with an event. Keeps the start of the response body, except of an acknowledgement. */
class EventExchange extends Exchange implements BodySink {
  readonly startedAtMs: number;
  #chunks: Uint8Array[] | undefined;
  #size = 0;

  constructor(startedAtMs: number) {
    super(() => this);
    this.startedAtMs = startedAtMs;
  }

  write(chunk: Uint8Array): void {
    if (this.head?.status === acceptedStatus || this.#size >= maxErrorBodyBytes) return;
    this.#chunks ??= [];
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /** Returns the result, when the request has ended. */
  result(error: Error | undefined): SendResult {
    const { head } = this;
    // The status of an acknowledgement is sufficient, even if its body breaks off.
    if (head?.status === acceptedStatus) return { status: acceptedStatus };
    return {
      status: head?.status,
      retryAfter: head?.header('retry-after'),
      body: head && Buffer.concat(this.#chunks ?? []).toString('utf8', 0, maxErrorBodyBytes),
      error,
    };
  }
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
