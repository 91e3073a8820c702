import { responseStatuses } from './response-statuses.ts';

/** Error codes of JSON-RPC 2.0 (section 5.1) and of the Model Context Protocol ("Timeouts"). */
const rpcStatuses: ReadonlyMap<unknown, number> = new Map([
  [-32602, responseStatuses.invalidArguments],
  [-32601, responseStatuses.unknownTool],
  [-32001, responseStatuses.timedOut],
]);

const codes = /^(?:MCP error (-\d+): )+/;

/** Texts of servers about a result that violates a schema, although the code is that of invalid arguments. */
const invalidResult = /output schema|structured content|invalid tools\/call result/i;

/** Text of servers about an unknown tool, although the code is that of invalid arguments. */
const unknownTool = /^(?:Tool \S+ (?:not found|disabled)|Unknown tool: )/;

/** Texts of servers that check arguments themselves. */
const invalidArguments = /^(?:Input validation error: |Invalid arguments for tool )/;

/**
 * Returns the status of a tool call from the text of its error in the Model Context Protocol: in a result with
 * `isError`, the text is all that says why the call failed.
 *
 * @param text - text of the result, or message of the client's error, such as `MCP error -32602: Tool find not found`
 * @param code - code of the client's error. Default: the one in the text
 * @param toolName - tool that ran, so that the error of a server that the tool calls is not taken for its own. Default: any
 * @returns the status; undefined for the text of a tool that failed for another reason
 */
export function mcpErrorStatus(text: string, code?: unknown, toolName?: string): number | undefined {
  if (toolName !== undefined && isOfInnerCall(text, toolName)) return undefined;
  const [prefix = '', inText] = codes.exec(text) ?? [];
  const status = rpcStatuses.get(typeof code === 'number' ? code : Number(inText));
  const words = text.slice(prefix.length);
  if (status === responseStatuses.invalidArguments) {
    if (invalidResult.test(words)) return responseStatuses.threw;
    if (unknownTool.test(words)) return responseStatuses.unknownTool;
  }
  return status ?? (invalidArguments.test(words) ? responseStatuses.invalidArguments : undefined);
}

/** Name of the tool in the texts of servers about an unknown tool or invalid arguments. */
const namedTool =
  /(?:^|: )(?:Tool '?(\S+?)'? (?:not found|disabled|parameter validation)|Unknown tool: (\S+)|Invalid arguments for tool (\S+?):)/;

/**
 * Returns `true` if the text of an error is about this tool, whose name a client may have extended by that of the
 * server; `false` if it is about another, and undefined if it names none.
 */
export function toolNamedIn(text: string, toolName: string): boolean | undefined {
  const named = namedTool.exec(text)?.slice(1).find(Boolean);
  return named === undefined ? undefined : toolName.endsWith(named);
}

/** Returns `true` for a text about another tool, or about none with the code of a protocol error. */
function isOfInnerCall(text: string, toolName: string): boolean {
  const isNamed = toolNamedIn(text, toolName);
  return (
    isNamed === false || (isNamed === undefined && /^MCP error -326\d\d: (?!Input validation)/.test(text))
  );
}
