/** Returns `true` if a tool is an agent that its caller delegates to. */
export function isDelegation(toolName: string): boolean {
  return toolName.startsWith('agent-');
}

/**
 * Returns the arguments from the model: Mastra adds its own ids to the prompt of an agent, and to the input that
 * resumes an agent or a workflow.
 */
export function argumentsOf(toolName: string, input: unknown): unknown {
  const isObject = typeof input === 'object' && input !== null;
  if (!isObject || !/^(agent|workflow)-/.test(toolName)) return input;
  const { suspendedToolRunId: _, ...given } = input as Record<string, unknown>;
  if (!isDelegation(toolName) || !('prompt' in given)) return given;
  const { threadId: __, resourceId: ___, ...rest } = given;
  return rest;
}
