import type { Method } from '@actlog/recorder/adapter';
import type { MCPServer } from '@openai/agents';
import { hookedMethods } from './hooked-methods.ts';
import { currentPlace } from './runs/run-scope.ts';

/** Result of a server's call: the whole result, or its blocks, to which the SDK's own servers add the rest. */
interface ServerResult {
  readonly isError?: boolean;
  readonly content?: unknown;
}

/** Notes the failures of a server's calls: hooks get the text of a result, and not that it is an error. */
export function hookMcpServer(server: MCPServer): void {
  if (!Object.isExtensible(server)) return;
  for (const method of ['callTool', 'callToolResult'] as const) {
    if (typeof server[method] === 'function') hookedMethods.hook<MCPServer, unknown>(server, method, watch);
  }
}

async function watch(server: MCPServer, call: Method, args: unknown[]): Promise<unknown> {
  const { run, callId = '' } = currentPlace() ?? {};
  run?.mcpFailures.delete(callId); // the SDK may repeat a call
  try {
    const result = (await call.apply(server, args)) as ServerResult;
    if (result?.isError) {
      const content = Array.isArray(result) ? result : result.content;
      run?.mcpFailures.set(callId, { ok: true, result: { isError: true, content } });
    }
    return result;
  } catch (error) {
    run?.mcpFailures.set(callId, { ok: false, error });
    throw error;
  }
}
