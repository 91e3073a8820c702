import { expect, test } from 'vitest';
import type { GenAiSpan } from './genai-span.ts';
import { isUnknownToolSpan, spanOutcome, spanStatus, toolSpanOf } from './tool-span.ts';

function span(
  attributes: Record<string, unknown>,
  { scope = 'tests', ...rest }: Partial<GenAiSpan> & { readonly scope?: string } = {},
): GenAiSpan {
  return {
    name: 'span',
    attributes,
    events: [],
    status: { code: 0 },
    instrumentationScope: { name: scope },
    ...rest,
  };
}

/** Returns the arguments of a tool span of OpenLLMetry with this input. */
function traceloopArguments(input: unknown): unknown {
  const attributes = { 'traceloop.span.kind': 'tool', 'traceloop.entity.input': JSON.stringify(input) };
  return toolSpanOf(span(attributes))?.arguments;
}

test('reads the arguments of OpenLLMetry by position, by name and from LangChain', () => {
  expect(traceloopArguments({ args: ['{"query":"lamp"}'] })).toEqual({ query: 'lamp' });
  expect(traceloopArguments({ args: ['lamp', {}], kwargs: {} })).toBe('lamp');
  expect(traceloopArguments({ args: [], kwargs: { query: 'lamp' } })).toEqual({ query: 'lamp' });
  expect(traceloopArguments({ input_str: 'x', inputs: { query: 'lamp' } })).toEqual({ query: 'lamp' });
  expect(traceloopArguments({ args: [] })).toBeUndefined();
  expect(traceloopArguments('text')).toBeUndefined();
});

test('reads both formats of Pydantic AI, and no other spans of it', () => {
  const scope = 'pydantic-ai';
  const named = { 'gen_ai.tool.name': 'search', 'gen_ai.tool.call.id': '1' };
  const expected = { toolName: 'search', callId: '1', arguments: { a: 1 } };
  expect(toolSpanOf(span({ ...named, tool_arguments: '{"a":1}' }, { scope }))).toMatchObject(expected);
  const latest = {
    ...named,
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.call.arguments': '{"a":1}',
  };
  expect(toolSpanOf(span(latest, { scope }))).toMatchObject(expected);
  expect(toolSpanOf(span({ 'gen_ai.operation.name': 'chat' }, { scope }))).toBeUndefined();
  expect(toolSpanOf(span({ ...latest, 'gen_ai.operation.name': 'chat' }, { scope }))).toBeUndefined();
});

test('returns no status for a tool that has not run yet', () => {
  const deferred = span(
    { 'gen_ai.tool.name': 'search', 'pydantic_ai.tool.deferral.name': 'ApprovalRequired' },
    { scope: 'pydantic-ai' },
  );
  const tool = toolSpanOf(deferred);
  expect(tool && spanStatus(spanOutcome(deferred, tool))).toBeNull();
});

test('ignores the span with which Logfire announces another', () => {
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
  expect(toolSpanOf(span(attributes))).toMatchObject({ toolName: 'search' });
  expect(toolSpanOf(span({ ...attributes, 'logfire.span_type': 'pending_span' }))).toBeUndefined();
});

test.each([
  ['TimeoutError', 408],
  ['httpx.ReadTimeout', 408],
  ['java.util.concurrent.TimeoutException', 408],
  ['asyncio.exceptions.CancelledError', 499],
  ['pydantic_core._pydantic_core.ValidationError', 400],
  ['KeyError', 500],
  ['langgraph.errors.GraphInterrupt', null],
])('returns for the exception %s the status %s', (type, status) => {
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
  const failed = span(attributes, {
    status: { code: 2 },
    events: [{ name: 'exception', attributes: { 'exception.type': type } }],
  });
  const tool = toolSpanOf(failed);
  expect(tool && spanStatus(spanOutcome(failed, tool))).toBe(status);
});

test.each<[Record<string, unknown>, string, boolean]>([
  [{ 'acme.tool.name': 'search' }, 'span', true],
  [{ tool_name: 'Bash', tool_use_id: '1' }, 'acme.tool', true],
  [{ tool_use_id: '1', success: true }, 'claude_code.tool.execution', false],
  [{ toolName: 'search' }, 'span', true],
  [{}, 'execute_tool search', true],
  [{ 'acme.tool.name': 'search', 'gen_ai.operation.name': 'chat' }, 'span', false],
  [{ 'gen_ai.request.model': 'm', 'acme.tool.name': 'search' }, 'span', false],
  [{ 'gen_ai.prompt.0.tool_call_id': 'call_1' }, 'openai.chat', false],
  [{ 'llm.input_messages.0.message.tool_call_id': 'call_1' }, 'span', false],
  [{ 'openinference.span.kind': 'LLM', tool_name: 'search' }, 'span', false],
  [{ 'mcp.method.name': 'tools/list', 'mcp.tool.name': 'search' }, 'span', false],
  [{ 'http.request.method': 'GET' }, 'GET /tools', false],
])('takes %j of the span %s for a tool in an unknown format: %j', (attributes, name, expected) => {
  const unknown = span(attributes, { name });
  expect(toolSpanOf(unknown)).toBeUndefined();
  expect(isUnknownToolSpan(unknown)).toBe(expected);
});
