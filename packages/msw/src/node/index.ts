/**
 * What `@actlog/msw` needs in Node: clients and recorders send by undici's own pools there, which Mock Service Worker
 * does not see.
 *
 * @packageDocumentation
 */
export { HandlersDispatcher } from './handlers-dispatcher.ts';
export { interceptUndici, type ListeningSource, type UndiciInterception } from './intercept-undici.ts';
export type { HandlerSource } from './mock-exchange.ts';
