/**
 * Records and guards the tool calls of an AI agent, and delivers every event.
 *
 * Importing it has no side effects and loads neither undici nor zod.
 *
 * @packageDocumentation
 */

export type { ArgumentChanges, ArgumentOrigin, ArgumentOrigins } from '@actlog/protocol';
export {
  type ArgumentsHashOptions,
  defaultResponseStatus,
  hashArguments,
  matchesArguments,
  type ResponseStatusMapping,
  responseStatuses,
  type ToolOutcome,
} from '@actlog/tool-call';
export type {
  AnnouncedCall,
  ApprovedChange,
  RecordedOutcome,
  RunCall,
  ToolCall,
  ToolCallFacts,
} from './events/tool-call.ts';
export { type ActionDenial, ActionDeniedError, type DeniedBecause } from './guard/action-denied-error.ts';
export type { GuardDecision, GuardOptions, PrincipalCall, ReadDecision } from './guard/guard-options.ts';
export type { FlushResult, WaitOptions } from './lib/timers.ts';
export type { OriginsOptions } from './origins/origins-options.ts';
export type { TextAuthor } from './origins/session-origins.ts';
export type { WhenFull } from './outbox/outbox.ts';
export { type AdapterIdentity, AdapterRecorder, type AdapterRecorderOptions, Recorder } from './recorder.ts';
export type { RecorderOptions } from './recorder-options.ts';
export type { RunningCall } from './recording/active-call.ts';
export {
  type Instrumented,
  RecorderSession,
  type SessionOptions,
  type SessionRecorder,
  type ToolFunctions,
} from './recording/recorder-session.ts';
export type { SharedCalls } from './recording/shared-calls.ts';
export {
  type DroppedEvent,
  type DropReason,
  diagnosticsChannels,
  type RecorderDiagnostics,
  type RecorderStats,
} from './reporting/reporter.ts';
export { sharedRecorder } from './shared-recorder.ts';
