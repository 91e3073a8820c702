/** Whether a tool is an agent that the one who calls it delegates to. */
export function isDelegation(toolName: string): boolean {
  return toolName.startsWith('agent-');
}

/** What the model asked for: Mastra adds its own memory's ids to what an agent is asked. */
export function argumentsOf(toolName: string, input: unknown): unknown {
  const isPrompt = isDelegation(toolName) && typeof input === 'object' && input !== null && 'prompt' in input;
  if (!isPrompt) return input;
  const { threadId: _, resourceId: __, ...asked } = input as Record<string, unknown>;
  return asked;
}
