const refusals: Readonly<Record<string, { readonly text: string; readonly status: number }>> = {
  '/etc/passwd': { text: 'Access denied - path outside allowed directories', status: 500 },
  '': {
    text: 'MCP error -32602: Input validation error: Invalid arguments for tool read: Too small at path',
    status: 400,
  },
};

/** Paths that the tool `read` of a server of the Model Context Protocol refuses to read. */
export const refusedPaths: readonly string[] = Object.keys(refusals);

/** Statuses of the calls for {@link refusedPaths}, in their order. */
export const refusedStatuses: readonly number[] = Object.values(refusals).map(({ status }) => status);

/** Returns the text with which the server refuses a path. */
export function refusalOf(path: string): string {
  return refusals[path]?.text ?? '';
}

/** Creates the result with which a server reports that a call failed. */
export function mcpErrorResult(text: string) {
  return { isError: true as const, content: [{ type: 'text' as const, text }] };
}
