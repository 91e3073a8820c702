/**
 * Building blocks of adapters for agent frameworks: the options that all adapters share, and the class that applies
 * them.
 *
 * @packageDocumentation
 */

export {
  exitStatus,
  mcpErrorStatus,
  noHash as noArgumentsHash,
  parseExactJson,
  repeatedMember,
  shellStatus,
  stringifyExactJson,
  traceparentOf,
} from '@actlog/tool-call';
export { createEventId } from '../events/event.ts';
export type { AnnouncedCall, ApprovedChange, RecordedOutcome, RunCall } from '../events/tool-call.ts';
export { policyOf } from '../guard/action-denied-error.ts';
export { showArgumentsOf } from '../guard/show-arguments.ts';
export { processWide, processWidePerOwner } from '../lib/process-wide.ts';
export { abandonedCall } from '../lib/timers.ts';
export type { RunningCall } from '../recording/active-call.ts';

export { currentSessionId } from '../recording/recorder-session.ts';
export type { SharedCalls } from '../recording/shared-calls.ts';
export { AdapterCalls } from './adapter-calls.ts';
export {
  type AdapterOptions,
  type AdapterTraits,
  type OptionTerms,
  type RecordOnlyOptions,
  refuseGuard,
  refuseOptions,
  refuseOptionsOfFunctions,
  type SessionSource,
  type ToolFilter,
  type ToolsOnly,
  type WithoutOptions,
} from './adapter-option-checks.ts';
export {
  type ConversationCall,
  Conversations,
  newSessionId,
  SessionsById,
} from './conversation/conversations.ts';
export { isOfUser } from './conversation/past-calls.ts';
export { BegunCall, type HookedCall, type Wrapping } from './hooked-calls.ts';
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
  withChangeNotice,
} from './mcp/tool-outcome.ts';
export {
  argumentsOf,
  type CallParams,
  callMethod,
  callText,
  giveUpCalls,
  isCallParams,
  isSameCall,
  keepActionId,
  repetitionKey,
  runRepeatable,
  takeActionId,
} from './mcp/unrepeated-calls.ts';
export {
  callDigest,
  DeniedRun,
  endOfRunReason,
  maxDenialsInARow,
  maxSameDenials,
  RunDenials,
} from './run-denials.ts';
export { type ChatTexts, chatTexts, noteTexts, type ShownTexts, toolContent } from './shown-texts.ts';
export {
  type BoundFunctions,
  type Method,
  MethodHooks,
  ownName,
  ProcessCoverage,
  stepwise,
  TargetHooks,
  targetHooks,
  withMethods,
} from './target-hooks.ts';
