import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { Actlog } from '@actlog/client';
import type { AgentName } from './dialects/dialect.ts';
import { version } from './version.ts';

/** Value of `x-service-sdk`. */
export const sdk = `@actlog/hook/${version}`;

/** Returns the variables without which there is no service; empty if it is configured. */
export function missingVariables(): string[] {
  return ['ACTLOG_BASE_URL', 'ACTLOG_API_KEY'].filter((name) => !process.env[name]?.trim());
}

/**
 * Creates the client of a hook; undefined if no service is configured.
 *
 * @throws InvalidArgumentError when the key or the address is invalid
 */
export function serviceOf(agent: AgentName): Actlog | undefined {
  if (missingVariables().length > 0) return undefined;
  const options = { sdk, framework: agent, logLevel: 'off' } as const;
  const client = new Actlog(options);
  // A proxy needs the connections of the client.
  return client.usesDefaultPool
    ? new Actlog({ ...options, dispatcher: new HttpDispatcher() as never })
    : client;
}

/** The used part of the options of undici's `Dispatcher.dispatch`. */
interface DispatchOptions {
  readonly origin?: string | URL | undefined;
  readonly path: string;
  readonly method: string;
  readonly headers?: unknown;
  readonly body?: unknown;
}

/** The used part of undici's `DispatchHandler`. */
interface DispatchHandler {
  onRequestStart(controller: object): void;
  onResponseStart(controller: object, status: number, headers: IncomingMessage['headers']): void;
  onResponseData(controller: object, chunk: Uint8Array): void;
  onResponseEnd(): void;
  onResponseError(controller: object, error: Error): void;
}

/**
 * Dispatcher of requests for `Actlog` over Node's HTTP client: a hook makes one or two requests, and loading undici
 * takes longer than the rest of the hook.
 */
class HttpDispatcher {
  /** Sends a request. Errors are passed to the handler. */
  dispatch(options: DispatchOptions, handler: DispatchHandler): boolean {
    try {
      this.#send(options, handler);
    } catch (error) {
      handler.onResponseError({}, error as Error);
    }
    return true;
  }

  #send({ origin, path, method, headers, body }: DispatchOptions, handler: DispatchHandler): void {
    const url = new URL(path, String(origin));
    // An import would read every export, and one of them loads undici.
    const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
    const sent = request(url, { method, headers: headers as RequestOptions['headers'] & object });
    const controller = new Controller(sent);
    sent.on('error', (error) => handler.onResponseError(controller, error));
    sent.on('response', (response) => receive(response, controller, handler));
    handler.onRequestStart(controller);
    sent.end(body ?? undefined);
  }
}

function receive(response: IncomingMessage, controller: Controller, handler: DispatchHandler): void {
  controller.response = response;
  handler.onResponseStart(controller, response.statusCode ?? 0, response.headers);
  response.on('data', (chunk: Buffer) => handler.onResponseData(controller, chunk));
  response.on('end', () => handler.onResponseEnd());
  response.on('error', (error) => handler.onResponseError(controller, error));
}

/** undici's controller of a request. */
class Controller {
  readonly #request: ClientRequest;
  response: IncomingMessage | undefined;

  constructor(request: ClientRequest) {
    this.#request = request;
  }

  abort(reason: Error): void {
    this.#request.destroy(reason);
  }

  pause(): void {
    this.response?.pause();
  }

  resume(): void {
    this.response?.resume();
  }
}
