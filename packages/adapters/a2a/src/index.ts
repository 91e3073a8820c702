/**
 * One line that records and guards the messages between agents over the Agent2Agent protocol.
 *
 * @packageDocumentation
 */

export type { ActlogOptions } from './a2a-calls.ts';
export { actlog } from './actlog.ts';
export type { A2aClient } from './client.ts';
export type { A2aExecutor } from './executor.ts';
