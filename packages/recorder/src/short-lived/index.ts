/**
 * Parts of the recorder for processes that live for one call, such as the hooks of coding agents. Importing it loads
 * neither undici nor zod, and none of its functions waits for the delivery of an event.
 *
 * @packageDocumentation
 */

export {
  ArgumentsHasher,
  type ArgumentsHashOptions,
  exitStatus,
  mcpErrorStatus,
  parseExactJson,
  repeatedMember,
  responseStatuses,
} from '@actlog/tool-call';
export { endOfRunReason, maxDenialsInARow, maxSameDenials } from '../adapter/run-denials.ts';
export { createEventId } from '../events/event.ts';
export type { ApprovedChange } from '../events/tool-call.ts';

export { ActionDeniedError, policyOf } from '../guard/action-denied-error.ts';
export type { GuardOptions } from '../guard/guard-options.ts';
export { showArgumentsOf } from '../guard/show-arguments.ts';
export {
  isAlive,
  ownIdentity,
  type ProcessIdentity,
  parseFolderName,
} from '../journal/own-file.ts';
export { decodeText } from '../lib/json-value.ts';
export {
  type AdmittedChange,
  CallGuard,
  type CheckedCall,
  type SpooledCall,
  SpoolWriter,
  type SpoolWriterOptions,
  tenantSpoolFolder,
} from './one-call.ts';
