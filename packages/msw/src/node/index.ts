/**
 * Parts of `@actlog/msw` for Node, where clients and recorders send requests with undici pools that Mock Service Worker
 * does not intercept.
 *
 * @packageDocumentation
 */
export {
  HandlersDispatcher,
  interceptUndici,
  type ListeningSource,
  type UndiciInterception,
} from './intercept-undici.ts';
export type { HandlerSource } from './mock-exchange.ts';
