import type { Actlog } from '@actlog/client';
import { endpoints } from '@actlog/protocol';
import type { Transport } from './delivery/answer.ts';
import { DispatchTransport, type EventDispatcher } from './delivery/dispatch-transport.ts';
import { createEventPool } from './delivery/event-pool.ts';
import { FetchTransport } from './delivery/fetch-transport.ts';
import { type OriginKey, parseOriginKey } from './delivery/origin.ts';
import { ProvenPipelining } from './delivery/proven-pipelining.ts';
import { timers } from './timers.ts';
import { sdkName } from './version.ts';

/** Events under way on one connection where it was found out that several may be. */
const foundDepth = 16;
/** Origins whose headers are kept ready; more than any process has. */
const maxOrigins = 100;

/** How events are sent. */
export interface ConnectionSettings {
  readonly concurrency: number;
  /** Undefined: to be found out. */
  readonly pipelining: number | undefined;
  readonly requestTimeoutMs: number;
}

/** The client, as what sends events sees it. */
export class ServiceConnection {
  readonly #client: Actlog;
  readonly #settings: ConnectionSettings;
  readonly #headers = new Map<OriginKey, Readonly<Record<string, string>>>();

  constructor(client: Actlog, settings: ConnectionSettings) {
    this.#client = client;
    this.#settings = settings;
  }

  /** Names the deployment and the key, for a folder that belongs to both. Contains a secret. */
  get tenantSecret(): string {
    return `${this.#client.baseURL}\n${this.#client.headers().authorization ?? ''}`;
  }

  /** Loads what sends. */
  async connect(): Promise<Transport> {
    const url = new URL(this.#client.baseURL + endpoints['events.create'].path);
    const { pipelining, requestTimeoutMs: timeoutMs } = this.#settings;
    if (this.#client.usesDefaultPool) {
      if (pipelining !== undefined) return this.#pool(url, pipelining);
      const [single, pipelined] = await Promise.all([this.#pool(url, 1), this.#pool(url, foundDepth)]);
      return new ProvenPipelining({ single, pipelined, now: () => timers.now() });
    }
    // The user chose how requests travel, so that way is taken as it is.
    const dispatcher = (await this.#client.dispatcher().catch(notSetUp)) as EventDispatcher | undefined;
    if (dispatcher) return new DispatchTransport({ dispatcher, url, timeoutMs, pipelining: 1 });
    return new FetchTransport({ fetch: this.#client.fetch ?? globalThis.fetch, url, timeoutMs });
  }

  /** Connections of our own, which open as they are needed. */
  async #pool(url: URL, pipelining: number): Promise<Transport> {
    const { concurrency, requestTimeoutMs: timeoutMs } = this.#settings;
    const connections = Math.ceil(concurrency / pipelining);
    const pool = await createEventPool(url.origin, { connections, pipelining });
    const disconnect = () => void pool.destroy().catch(() => {});
    return new DispatchTransport({ dispatcher: pool, url, timeoutMs, pipelining, disconnect });
  }

  /** The headers of events of one origin. */
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
      // What cannot stand in a header is left out: the event is worth more.
      return this.#client.headers();
    }
  }
}

function notSetUp({ message }: Error): never {
  throw new Error(`Nothing is delivered: ${message}`);
}
