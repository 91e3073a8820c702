/**
 * Mock Service Worker handlers for the actlog service: test agents without a server. Runs in Node and in browsers; the
 * additional parts for Node are in `@actlog/msw/node`.
 *
 * @packageDocumentation
 */
export { type ActlogMock, actlogMock, type HandledRequest } from './actlog-mock.ts';
export type { FaultOptions } from './faults/fault.ts';
export type {
  DownOptions,
  FailingOptions,
  Faults,
  RateLimitedOptions,
  SlowOptions,
} from './faults/faults.ts';
export type { ActlogMockOptions } from './mock-options.ts';
export type { MockState } from './mock-state.ts';
export type { MockKey } from './service/key-ring.ts';
export type * from './tenant/records.ts';
