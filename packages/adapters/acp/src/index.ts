/**
 * One line that records and guards the tool calls of coding agents over the Agent Client Protocol.
 *
 * @packageDocumentation
 */

export type { ActlogOptions } from './acp-calls.ts';
export { type AcpApp, actlog } from './actlog.ts';
export type { AcpStream } from './stream.ts';
