import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import type { InvocationContext, LlmResponse } from '@google/adk';
import { failed, type Part, type ResponseCall } from './response-call.ts';

type Code = NonNullable<Part['executableCode']>;
type CodeResult = NonNullable<Part['codeExecutionResult']>;

/** Code whose result comes in a later response of the stream. */
const running = new WeakMap<InvocationContext, Code[]>();

const found = new WeakMap<LlmResponse, readonly ResponseCall[]>();

/** Returns the calls of a response that the model's provider ran: code, and searches that the response is based on. */
export function providerCalls(context: InvocationContext, response: LlmResponse): readonly ResponseCall[] {
  const known = found.get(response);
  if (known) return known;
  const code = (response.content?.parts ?? []).flatMap((part) => codeCalls(context, part));
  const calls = [...code, ...searches(response.groundingMetadata)];
  found.set(response, calls);
  return calls;
}

function searches(metadata: LlmResponse['groundingMetadata']): ResponseCall[] {
  const queries = metadata?.webSearchQueries;
  if (!metadata || !queries?.length) return [];
  const outcome = { ok: true, result: undefined } as const;
  return [{ toolName: 'google_search', arguments: { queries }, outcome, source: metadata }];
}

function codeCalls(
  context: InvocationContext,
  { executableCode, codeExecutionResult }: Part,
): ResponseCall[] {
  const waiting = running.get(context) ?? [];
  running.set(context, waiting);
  if (executableCode) waiting.push(executableCode);
  if (!codeExecutionResult) return [];
  const { language, code } = waiting.shift() ?? {};
  const outcome = codeOutcome(codeExecutionResult);
  return [
    { toolName: 'code_execution', arguments: { language, code }, outcome, source: codeExecutionResult },
  ];
}

/** Maps the names of Gemini's `CodeExecutionResult.Outcome`. */
function codeOutcome({ outcome, output }: CodeResult): ToolOutcome {
  if (outcome === 'OUTCOME_OK') return { ok: true, result: output };
  return outcome === 'OUTCOME_DEADLINE_EXCEEDED'
    ? failed(responseStatuses.timedOut, 'The code took too long.')
    : failed(responseStatuses.threw, 'The code failed.');
}
