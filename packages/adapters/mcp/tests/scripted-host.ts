import type { Ending, Scenario } from '@actlog/adapter-suite';

/** The used part of a client. */
export interface ConnectedClient {
  call(toolName: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

/** Makes the calls of a scenario like an agent with a scripted model, because MCP itself has no model. */
export async function playTurns(client: ConnectedClient, { turns, signal }: Scenario): Promise<Ending> {
  const toolResults: Ending['toolResults'][number][] = [];
  for (const turn of turns) {
    const calls = turn.map(({ toolName, arguments: args }) => client.call(toolName, args, signal));
    for (const call of await Promise.allSettled(calls)) {
      if (signal?.aborted) return { toolResults, error: signal.reason };
      toolResults.push(call.status === 'fulfilled' ? toolResultOf(call.value) : errorResult(call.reason));
    }
  }
  return { toolResults, finalText: 'done' };
}

function toolResultOf(result: unknown) {
  const { content, isError } = result as { content: { text: string }[]; isError?: boolean };
  return { text: content.map(({ text }) => text).join('\n'), isError: isError === true };
}

function errorResult(error: unknown) {
  return { text: (error as Error).message, isError: true };
}
