import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, toolContent } from '@actlog/recorder/adapter';
import type { OutputItem, ResponsesOutput } from './model-output.ts';
import { parsedArguments } from './parsed-arguments.ts';

/** Types of calls that OpenAI runs. Shells and programs run there if the response contains their output. */
const hostedTypes = [
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_call',
];
const outputTypes: Readonly<Record<string, string>> = {
  shell_call: 'shell_call_output',
  program: 'program_output',
};

/** Fields of a call with its outcome rather than its arguments. */
const outcomeFields = new Set([
  'id',
  'call_id',
  'type',
  'status',
  'output',
  'outputs',
  'result',
  'results',
  'error',
  'name',
  'server_label',
]);

/** Records the calls that OpenAI ran for a response, each once. */
export function recordHostedCalls(
  response: ResponsesOutput,
  { calls, sessionId }: { readonly calls: AdapterCalls; readonly sessionId: string | undefined },
): void {
  const output = response.output as readonly OutputItem[];
  for (const item of output) {
    if (!isHosted(item, output)) continue;
    const isMcp = item.type === 'mcp_call';
    const toolName = isMcp ? String(item.name) : item.type.replace(/_call$/, '');
    if (!calls.covers(toolName) || !calls.claim(item)) continue;
    calls.record(
      { toolName, arguments: argumentsOf(item), sessionId, resultOf: shownResult },
      outcomeOf(item),
    );
  }
}

function isHosted(item: OutputItem, output: readonly OutputItem[]): boolean {
  const outputType = outputTypes[item.type];
  if (!outputType) return hostedTypes.includes(item.type);
  return output.some(({ type, call_id }) => type === outputType && call_id === item.call_id);
}

function argumentsOf(item: OutputItem): unknown {
  if (item.type === 'mcp_call') return parsedArguments(item.arguments);
  if (item.type === 'shell_call') return item.action;
  return Object.fromEntries(Object.entries(item).filter(([field]) => !outcomeFields.has(field)));
}

/** Returns what the model sees of a hosted call's item: its output or results; they have no common field. */
function shownResult(item: unknown): unknown {
  const { output, outputs, results } = item as Readonly<Record<string, unknown>>;
  return toolContent(output ?? outputs ?? results ?? item);
}

function outcomeOf({ type, status, error, ...item }: OutputItem): ToolOutcome {
  const hasFailed = Boolean(error) || status === 'failed' || status === 'incomplete';
  if (!hasFailed) return { ok: true, result: item };
  const message = `The hosted tool ${type} failed.`;
  return { ok: false, error: Object.assign(new Error(message), { status: responseStatuses.threw }) };
}
