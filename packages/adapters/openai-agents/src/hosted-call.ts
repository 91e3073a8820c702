import { responseStatuses } from '@actlog/recorder';
import { failure } from './agents-calls.ts';
import type { EndedCall, ModelItem } from './ended-call.ts';
import { parsed } from './tool-call.ts';

/** Items that look like a call of a hosted tool but are not. */
const nonCalls = ['mcp_list_tools', 'mcp_approval_request'];

/** Fields of a call with its outcome rather than its arguments. */
const outcomeFields = [
  'id',
  'type',
  'status',
  'output',
  'outputs',
  'results',
  'error',
  'name',
  'server_label',
];

/**
 * Reconstructs a call run by the model's provider from the model's output: web search, file search, code interpreter,
 * image generation, hosted MCP servers and shells, programs. Returns undefined for other items.
 *
 * @param output - all items of the model's output, which include the output of hosted shells and programs
 */
export function hostedCall(item: ModelItem, output: readonly ModelItem[]): EndedCall | undefined {
  if (item.type === 'hosted_tool_call') return builtIn(item);
  if (item.type !== 'shell_call' && item.type !== 'program') return undefined;
  const hasOutput = output.some(
    (other) =>
      (other.type === 'shell_call_output' || other.type === 'program_output') && other.callId === item.callId,
  );
  if (!hasOutput) return undefined;
  const args = item.type === 'shell_call' ? item.action : { code: item.code };
  return { toolName: item.type.replace('_call', ''), arguments: args, outcome: { ok: true, result: item } };
}

function builtIn(item: Extract<ModelItem, { type: 'hosted_tool_call' }>): EndedCall | undefined {
  const data = item.providerData ?? {};
  if (nonCalls.includes(item.name) || nonCalls.includes(String(data.type))) return undefined;
  const isMcp = data.type === 'mcp_call' && typeof data.name === 'string';
  const hasFailed = Boolean(data.error) || item.status === 'failed' || item.status === 'incomplete';
  return {
    toolName: isMcp ? data.name : item.name.replace(/_call$/, ''),
    arguments: argumentsFrom(item.arguments ?? data.arguments, data),
    outcome: hasFailed
      ? failure(responseStatuses.threw, `The hosted tool ${item.name} failed.`)
      : { ok: true, result: item.output },
  };
}

function argumentsFrom(args: unknown, data: Record<string, unknown>): unknown {
  if (typeof args === 'string') return parsed(args);
  return Object.fromEntries(Object.entries(data).filter(([field]) => !outcomeFields.includes(field)));
}
