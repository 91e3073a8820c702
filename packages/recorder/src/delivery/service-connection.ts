import type { Actlog } from '@actlog/client';
import { endpoints } from '@actlog/protocol';
import { timers } from '../lib/timers.ts';
import { sdkName } from '../version.ts';
import { DispatchTransport, type EventDispatcher } from './dispatch-transport.ts';
import { createEventPool } from './event-pool.ts';
import { FetchTransport } from './fetch-transport.ts';
import { type OriginKey, parseOriginKey } from './origin.ts';
import { ProvenPipelining } from './proven-pipelining.ts';
import type { Transport } from './send-result.ts';

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
