import { responseStatuses } from '@actlog/recorder';
import { failure } from './agents-calls.ts';
import type { EndedCall, ModelItem } from './ended-call.ts';
import { parsed } from './tool-call.ts';

/** Items that have the form of a hosted tool's call and are none. */
const noCalls = ['mcp_list_tools', 'mcp_approval_request'];

/** What a call says of its own outcome, and not of what was asked. */
const answerFields = [
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
 * A call that the model's provider ran, read from what the model answered: web search, file search, code interpreter,
 * image generation, hosted MCP servers and shells, programs. Undefined for everything else.
 *
 * @param answered - all that the model answered, which holds what hosted shells and programs put out
 */
export function hostedCall(item: ModelItem, answered: readonly ModelItem[]): EndedCall | undefined {
  if (item.type === 'hosted_tool_call') return builtIn(item);
  if (item.type !== 'shell_call' && item.type !== 'program') return undefined;
  const hasOutput = answered.some(
    (other) =>
      (other.type === 'shell_call_output' || other.type === 'program_output') && other.callId === item.callId,
  );
  if (!hasOutput) return undefined;
  const asked = item.type === 'shell_call' ? item.action : { code: item.code };
  return { toolName: item.type.replace('_call', ''), arguments: asked, outcome: { ok: true, result: item } };
}

function builtIn(item: Extract<ModelItem, { type: 'hosted_tool_call' }>): EndedCall | undefined {
  const data = item.providerData ?? {};
  if (noCalls.includes(item.name) || noCalls.includes(String(data.type))) return undefined;
  const isMcp = data.type === 'mcp_call' && typeof data.name === 'string';
  const hasFailed = Boolean(data.error) || item.status === 'failed' || item.status === 'incomplete';
  return {
    toolName: isMcp ? data.name : item.name.replace(/_call$/, ''),
    arguments: askedOf(item.arguments ?? data.arguments, data),
    outcome: hasFailed
      ? failure(responseStatuses.threw, `The hosted tool ${item.name} failed.`)
      : { ok: true, result: item.output },
  };
}

function askedOf(args: unknown, data: Record<string, unknown>): unknown {
  if (typeof args === 'string') return parsed(args);
  return Object.fromEntries(Object.entries(data).filter(([field]) => !answerFields.includes(field)));
}
