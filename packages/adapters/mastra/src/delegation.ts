/** Whether a tool is an agent that the one who calls it delegates to. */
export function isDelegation(toolName: string): boolean {
  return toolName.startsWith('agent-');
}

/** What the model asked for: Mastra adds ids of its own to what an agent is asked, and to what resumes one or a workflow. */
export function argumentsOf(toolName: string, input: unknown): unknown {
  const isObject = typeof input === 'object' && input !== null;
  if (!isObject || !/^(agent|workflow)-/.test(toolName)) return input;
  const { suspendedToolRunId: _, ...given } = input as Record<string, unknown>;
  if (!isDelegation(toolName) || !('prompt' in given)) return given;
  const { threadId: __, resourceId: ___, ...asked } = given;
  return asked;
}
