/**
 * The facts of a tool call as events carry them: the hash of its arguments, the status of its outcome, and its names.
 * The recorder and the server use the same, so that a call has the same event however it is reported.
 *
 * @packageDocumentation
 */

export {
  exactDigitsOf,
  parseExactJson,
  repeatedMember,
  stringifyExactJson,
} from '@actlog/protocol';
export {
  ArgumentsHasher,
  type ArgumentsHashOptions,
  hashArguments,
  matchesArguments,
} from './arguments/arguments-hash.ts';
export { noHash } from './arguments/json-form.ts';
export { parseTraceparent, toIdentifier, toResourceId, traceparentOf } from './identifiers.ts';
export {
  defaultResponseStatus,
  exitStatus,
  isResponseStatus,
  mcpErrorStatus,
  type ReachedTool,
  type ResponseStatusMapping,
  reachedToolStatus,
  responseStatuses,
  shellStatus,
  type ToolOutcome,
  taskStatus,
  unreadableStatus,
} from './outcome/response-status.ts';
