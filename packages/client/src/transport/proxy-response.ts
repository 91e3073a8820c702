import type { Dispatcher } from 'undici';

/** Matches undici's error message for a proxy that refuses a tunnel. Its error codes are shared with other failures. */
const refusal = /^Proxy (?:response|Authentication Required) \((\d+)\)/;

/** undici interceptor that puts the status of a proxy's refusal into the error code, such as `PROXY_RESPONSE_407`. */
export const proxyStatusInterceptor: Dispatcher.DispatcherComposeInterceptor =
  (dispatch) => (options, handler) =>
    dispatch(options, new ProxyStatusHandler(handler));

type HandlerArguments<Event extends keyof Dispatcher.DispatchHandler> = Parameters<
  NonNullable<Dispatcher.DispatchHandler[Event]>
>;

class ProxyStatusHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
  }

  onRequestStart(...args: HandlerArguments<'onRequestStart'>): void {
    this.#handler.onRequestStart?.(...args);
  }

  onRequestUpgrade(...args: HandlerArguments<'onRequestUpgrade'>): void {
    this.#handler.onRequestUpgrade?.(...args);
  }

  onResponseStart(...args: HandlerArguments<'onResponseStart'>): void {
    this.#handler.onResponseStart?.(...args);
  }

  onResponseData(...args: HandlerArguments<'onResponseData'>): void {
    this.#handler.onResponseData?.(...args);
  }

  onResponseEnd(...args: HandlerArguments<'onResponseEnd'>): void {
    this.#handler.onResponseEnd?.(...args);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    const [, status] = refusal.exec(error.message) ?? [];
    const named = status
      ? Object.assign(new Error(`the proxy responded with ${status}`), { code: `PROXY_RESPONSE_${status}` })
      : error;
    this.#handler.onResponseError?.(controller, named);
  }
}
