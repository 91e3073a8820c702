/**
 * Transports of the client, and the names of its options, for packages that send other requests than it does.
 *
 * @packageDocumentation
 */
export { clientOptionNames } from './client-options.ts';
export type { BodySink, ResponseHead } from './response/api-response.ts';
export { decodingSink, type FinishingSink } from './transport/content-encoding.ts';
export { Exchange, type Transport, type WireRequest } from './transport/transport.ts';
export { createDispatcher } from './transport/undici-pools.ts';
export { ParsedHead } from './transport/undici-transport.ts';
