import { loadUndici } from '@actlog/client/undici';
import type { Dispatcher } from 'undici';

/** Address of a server, with the headers of each request to it. */
export class Upstream {
  readonly url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  /** Without time limits: a call may run for long, and a stream may be silent for long. */
  readonly #dispatcher = loadUndici().then(
    ({ EnvHttpProxyAgent }) => new EnvHttpProxyAgent({ headersTimeout: 0, bodyTimeout: 0 }),
  );

  /** @param headers - headers such as `Authorization` */
  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    this.url = url;
    this.#headers = headers;
  }

  /**
   * Sends a request to the address, and to no other: it has the operator's headers.
   *
   * @throws when there is no response
   */
  async send(options: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string | string[]>>;
    readonly body?: Buffer | undefined;
    readonly signal?: AbortSignal | undefined;
  }): Promise<Dispatcher.ResponseData> {
    const { method, headers, body, signal } = options;
    const { origin, pathname, search } = this.url;
    const dispatcher = await this.#dispatcher;
    return dispatcher.request({
      origin,
      path: `${pathname}${search}`,
      method: method as Dispatcher.HttpMethod,
      headers: { ...headers, ...this.#headers },
      body: body ?? null,
      signal: signal ?? null,
    });
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    await (await this.#dispatcher).destroy();
  }
}
