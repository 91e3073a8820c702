/**
 * Mock Service Worker handlers for the actlog service: test agents without a server. Runs in Node and in browsers; the
 * additional parts for Node are in `@actlog/msw/node`.
 *
 * @packageDocumentation
 */
export {
  type ActlogMock,
  type ActlogMockOptions,
  actlogMock,
  type HandledRequest,
  type MockState,
} from './actlog-mock.ts';
export type {
  DownOptions,
  FailingOptions,
  FaultOptions,
  Faults,
  RateLimitedOptions,
  SlowOptions,
} from './faults/faults.ts';
export type { MockKey } from './service/key-ring.ts';
export type * from './tenant/records.ts';
