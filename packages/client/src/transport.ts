/**
 * Parts of the client's way out over HTTP, for packages that send requests of their own.
 *
 * @packageDocumentation
 */
export type { BodySink, ResponseHead } from './response/api-response.ts';
export { decodingSink, type FinishingSink } from './transport/content-encoding.ts';
export { Exchange, type Transport, type WireRequest } from './transport/transport.ts';
export { createDispatcher } from './transport/undici-pools.ts';
export { ParsedHead } from './transport/undici-transport.ts';
