/**
 * Records and guards the tool calls of an AI agent, and delivers every event.
 *
 * Importing it has no side effects and loads neither undici nor zod.
 *
 * @packageDocumentation
 */
export type { RunningCall } from './active-call.ts';
export { type AdapterIdentity, AdapterRecorder, type AdapterRecorderOptions } from './adapter-recorder.ts';
export { type ArgumentsHashOptions, hashArguments, matchesArguments } from './arguments/arguments-hash.ts';
export type { RecorderStats } from './counters.ts';
export { diagnosticsChannels, type RecorderDiagnostics } from './diagnostics.ts';
export type { DroppedEvent, DropReason } from './drop-reason.ts';
export type { FlushResult, WaitOptions } from './flush.ts';
export { type ActionDenial, ActionDeniedError, type DeniedBecause } from './guard/action-denied-error.ts';
export type { GuardOptions } from './guard/guard-options.ts';
export type { Instrumented, ToolFunctions } from './instrument.ts';
export type { WhenFull } from './outbox/outbox.ts';
export { Recorder } from './recorder.ts';
export type { RecorderOptions } from './recorder-options.ts';
export {
  defaultResponseStatus,
  type ResponseStatusMapping,
  responseStatuses,
  type ToolOutcome,
} from './response-status.ts';
export { Session, type SessionRecorder } from './session.ts';
export { sharedRecorder } from './shared-recorder.ts';
export type { ToolCall, ToolCallFacts } from './tool-call.ts';
