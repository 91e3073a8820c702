import type { Dispatcher } from 'undici';

/** undici's words for a proxy that lets nothing through; its codes are those of other failures. */
const refusal = /^Proxy (?:response|Authentication Required) \((\d+)\)/;

/** An interceptor of undici: what a proxy answered in place of the service stands in the code of the error. */
export const nameProxyAnswers: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, new ProxyAnswerHandler(handler));

type Told<Event extends keyof Dispatcher.DispatchHandler> = Parameters<
  NonNullable<Dispatcher.DispatchHandler[Event]>
>;

class ProxyAnswerHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
  }

  onRequestStart(...told: Told<'onRequestStart'>): void {
    this.#handler.onRequestStart?.(...told);
  }

  onRequestUpgrade(...told: Told<'onRequestUpgrade'>): void {
    this.#handler.onRequestUpgrade?.(...told);
  }

  onResponseStart(...told: Told<'onResponseStart'>): void {
    this.#handler.onResponseStart?.(...told);
  }

  onResponseData(...told: Told<'onResponseData'>): void {
    this.#handler.onResponseData?.(...told);
  }

  onResponseEnd(...told: Told<'onResponseEnd'>): void {
    this.#handler.onResponseEnd?.(...told);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    const [, status] = refusal.exec(error.message) ?? [];
    const named = status
      ? Object.assign(new Error(`the proxy answered ${status}`), { code: `PROXY_ANSWERED_${status}` })
      : error;
    this.#handler.onResponseError?.(controller, named);
  }
}
