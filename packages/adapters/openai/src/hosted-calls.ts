import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import type { AdapterCalls } from '@actlog/recorder/adapter';
import { parsedArguments } from './arguments-text.ts';
import type { OutputItem, ResponsesAnswer } from './asked-call.ts';

/** Calls that OpenAI runs; shells and programs run there where their output comes with the answer. */
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

/** What a call says of its own outcome, and not of what was asked. */
const answerFields = new Set([
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

/** Records what OpenAI ran for an answer, each call once. */
export function recordHostedCalls(
  answer: ResponsesAnswer,
  { calls, sessionId }: { readonly calls: AdapterCalls; readonly sessionId: string | undefined },
): void {
  const output = answer.output as readonly OutputItem[];
  for (const item of output) {
    if (!isHosted(item, output)) continue;
    const isMcp = item.type === 'mcp_call';
    const toolName = isMcp ? String(item.name) : item.type.replace(/_call$/, '');
    if (!calls.covers(toolName) || !calls.claim(item)) continue;
    calls.record({ toolName, arguments: askedOf(item), sessionId }, outcomeOf(item));
  }
}

function isHosted(item: OutputItem, output: readonly OutputItem[]): boolean {
  const outputType = outputTypes[item.type];
  if (!outputType) return hostedTypes.includes(item.type);
  return output.some(({ type, call_id }) => type === outputType && call_id === item.call_id);
}

function askedOf(item: OutputItem): unknown {
  if (item.type === 'mcp_call') return parsedArguments(item.arguments);
  if (item.type === 'shell_call') return item.action;
  return Object.fromEntries(Object.entries(item).filter(([field]) => !answerFields.has(field)));
}

function outcomeOf({ type, status, error, ...item }: OutputItem): ToolOutcome {
  const hasFailed = Boolean(error) || status === 'failed' || status === 'incomplete';
  if (!hasFailed) return { ok: true, result: item };
  const message = `The hosted tool ${type} failed.`;
  return { ok: false, error: Object.assign(new Error(message), { status: responseStatuses.threw }) };
}
