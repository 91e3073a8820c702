import { Actlog } from '@actlog/client';
import { endpoints } from '@actlog/protocol';
import type { Transport } from './delivery/answer.ts';
import { DispatchTransport, type EventDispatcher } from './delivery/dispatch-transport.ts';
import { createEventPool } from './delivery/event-pool.ts';
import { FetchTransport } from './delivery/fetch-transport.ts';
import { type OriginKey, parseOriginKey } from './delivery/origin.ts';
import { sdkName } from './version.ts';

/** Origins whose headers are kept ready; more than any process has. */
const maxOrigins = 100;

/** How events are sent. */
export interface ConnectionSettings {
  readonly concurrency: number;
  readonly pipelining: number;
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
    const { concurrency, pipelining, requestTimeoutMs: timeoutMs } = this.#settings;
    const given = await this.#client.dispatcher();
    if (!given) return new FetchTransport({ fetch: this.#client.fetch ?? globalThis.fetch, url, timeoutMs });
    if (await this.#isChosen(given)) {
      return new DispatchTransport({
        dispatcher: given as unknown as EventDispatcher,
        url,
        timeoutMs,
        pipelining: 1,
      });
    }
    const connections = Math.ceil(concurrency / pipelining);
    const dispatcher = await createEventPool(url.origin, { connections, pipelining });
    return new DispatchTransport({ dispatcher, url, timeoutMs, pipelining });
  }

  /** Whether the user chose how requests travel: by a dispatcher of their own, or a proxy. */
  async #isChosen(dispatcher: unknown): Promise<boolean> {
    // All clients without such a choice share one dispatcher.
    const plain = new Actlog({
      apiKey: 'al_test_none',
      baseURL: this.#client.baseURL,
      proxy: false,
      allowInsecureHttp: true,
    });
    return dispatcher !== (await plain.dispatcher());
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
