import { ActionDeniedError } from '@actlog/recorder';
import type { AdapterCalls, Wrapping } from '@actlog/recorder/adapter';
import type { ClientTool } from '@langchain/core/tools';
import { runCounted } from './denied-runs.ts';
import { surroundings } from './langchain-calls.ts';
import { asRecordedCall } from './recorded-calls.ts';
import { requestingSession } from './requested-calls.ts';
import { nodeMessages, type RunContext, runWith } from './run-context.ts';
import { errorMessage, isModelCall } from './tool-message.ts';

/** An invocation of a tool. */
interface Invocation {
  readonly input: unknown;
  readonly config: RunContext | undefined;
  readonly run: () => unknown;
  readonly wrapping: Wrapping;
}

/** Records an invocation of a tool, and runs it if the guard allows it. */
export async function recordInvocation(
  tool: ClientTool,
  calls: AdapterCalls,
  { input, config, run, wrapping }: Invocation,
): Promise<unknown> {
  const modelCall = isModelCall(input) ? input : undefined;
  const current = runWith(config);
  const called = { toolName: tool.name, callId: modelCall?.id };
  const args = modelCall ? modelCall.args : input;
  const place = surroundings(calls, { ...called, run: current, messages: nodeMessages(current) });
  const call = {
    ...place,
    sessionId: place.sessionId ?? requestingSession({ name: tool.name, id: modelCall?.id, args }),
    ...called,
    arguments: args,
    wrapping,
    signal: current.signal,
  };
  const recorded = { ...call, calls, tool, runName: config?.runName };
  try {
    return await runCounted(calls, call, () => asRecordedCall(recorded, run));
  } catch (error) {
    if (!ActionDeniedError.isInstance(error) || !modelCall) throw error;
    return errorMessage(modelCall, error.message, error);
  }
}
