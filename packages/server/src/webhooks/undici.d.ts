import type { Dispatcher } from 'undici';

export { Agent, buildConnector } from 'undici';

/** Sends a request with the dispatcher that it is called on. */
export declare function request(
  this: Dispatcher,
  options: Dispatcher.RequestOptions,
): Promise<Dispatcher.ResponseData>;
