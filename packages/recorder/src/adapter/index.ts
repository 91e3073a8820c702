/**
 * Building blocks of adapters for agent frameworks: the options that all adapters share, and the class that applies
 * them.
 *
 * @packageDocumentation
 */

export {
  mcpErrorStatus,
  noHash as noArgumentsHash,
  parseExactJson,
  repeatedMember,
} from '@actlog/tool-call';
export type { AnnouncedCall, RecordedOutcome } from '../events/announced-call.ts';
export { createEventId } from '../events/event-id.ts';
export { policyOf } from '../guard/action-denied-error.ts';
export { showArgumentsOf } from '../guard/show-arguments.ts';
export { abandonedCall } from '../lib/abort.ts';
export { processWide, processWidePerOwner } from '../lib/process-wide.ts';
export type { RunningCall } from '../recording/active-call.ts';

export { currentSessionId } from '../recording/recorder-session.ts';
export type { SharedCalls } from '../recording/shared-calls.ts';
export { AdapterCalls } from './adapter-calls.ts';
export {
  type AdapterTraits,
  type OptionTerms,
  type RecordOnlyOptions,
  refuseGuard,
  refuseOptions,
  refuseOptionsOfFunctions,
  type ToolsOnly,
  type WithoutOptions,
} from './adapter-option-checks.ts';
export type { AdapterOptions, SessionSource, ToolFilter } from './adapter-options.ts';
export { BegunCall } from './begun-call.ts';
export { type ConversationCall, Conversations, newSessionId } from './conversation/conversations.ts';
export { isOfUser } from './conversation/past-calls.ts';
export type { HookedCall, Wrapping } from './hooked-call.ts';
export { keepActionId, takeActionId } from './mcp/action-ids.ts';
export {
  argumentsOf,
  type CallParams,
  callMethod,
  callText,
  isCallParams,
  isSameCall,
} from './mcp/call-params.ts';
export { runRepeatable } from './mcp/repeatable-call.ts';
export {
  metaKey,
  type RecorderTerms,
  removeOutcomes,
  ServerCall,
  sealedIn,
  withAnnouncements,
} from './mcp/server-call.ts';
export {
  deniedResult,
  isErrorResult,
  isInputRequired,
  noteRecordedStatus,
  throwFromClient,
  toolOutcomeStatus,
} from './mcp/tool-outcome.ts';
export { giveUpCalls, repetitionKey } from './mcp/unrepeated-calls.ts';
export { type Method, MethodHooks } from './method-hooks.ts';
export { ownName } from './own-name.ts';
export { ProcessCoverage } from './process-coverage.ts';
export {
  callDigest,
  DeniedRun,
  endOfRunReason,
  maxDenialsInARow,
  maxSameDenials,
  RunDenials,
} from './run-denials.ts';
export { SessionsById } from './sessions-by-id.ts';
export { type ChatTexts, chatTexts, noteTexts, type ShownTexts } from './shown-texts.ts';
export { stepwise } from './stepwise.ts';
export { TargetHooks, targetHooks } from './target-hooks.ts';
export { toolContent } from './tool-content.ts';
export { type BoundFunctions, withMethods } from './with-methods.ts';
