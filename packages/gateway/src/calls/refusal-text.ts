import { ActionDeniedError } from '@actlog/recorder';
import { type CallParams, deniedResult, policyOf } from '@actlog/recorder/adapter';
import { errorText, resultText, rpcErrors } from '../messages/json-rpc.ts';

/** Key in `_meta` of requests since revision 2026-07-28, whose results name their type. */
const protocolVersionKey = 'io.modelcontextprotocol/protocolVersion';

/** `true` if a call ended before a person decided, who still can. */
export function isPending(error: unknown): boolean {
  return (
    ActionDeniedError.isInstance(error) &&
    error.because === 'approval-timed-out' &&
    error.decision === 'require_approval'
  );
}

/**
 * Returns the response to a call that did not run: a result that the model can read. It has `isError`, because a result
 * without an error must have the structured content that the tool declares.
 */
export function refusalText(id: unknown, params: CallParams, error: ActionDeniedError): string {
  const message = isPending(error) ? pendingMessage(error) : error.message;
  // The result of such a call describes a task, and cannot contain a message.
  if (params.task !== undefined) return errorText(id, rpcErrors.internalError, message);
  const result = { ...deniedResult(error), content: [{ type: 'text', text: message }] };
  return resultText(id, isTyped(params) ? { resultType: 'complete', ...result } : result);
}

function pendingMessage(error: ActionDeniedError): string {
  const { toolName, pendingActionId } = error;
  const policy = policyOf(error);
  const action = pendingActionId ? ` (pending action ${pendingActionId})` : '';
  return (
    `The call of the tool ${JSON.stringify(toolName)} was not run yet: it needs a person's approval${policy && ` under ${policy}`}, which is ` +
    `pending${action}. Tell the user, and call the tool again with the same arguments once it is approved.`
  );
}

function isTyped(params: CallParams): boolean {
  const { _meta: meta } = params as { readonly _meta?: unknown };
  return typeof meta === 'object' && meta !== null && protocolVersionKey in meta;
}
