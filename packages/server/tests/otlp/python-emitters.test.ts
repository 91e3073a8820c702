import { hashArguments } from '@actlog/tool-call';
import { describe, expect, test } from 'vitest';
import { failure, recorded, traceOf } from './python-spans.ts';
import { newId } from './trace-request.ts';

const unavailable = 'sha256:unavailable';
const query = { query: 'lamp' };

// https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span
describe('semantic conventions for GenAI', () => {
  const tool = (name: string, more: object = {}) => ({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': `call_${name}`,
    ...more,
  });

  test('records arguments in JSON and as a map alike', async () => {
    const span = traceOf();
    const agent = { 'gen_ai.agent.name': 'support', 'gen_ai.conversation.id': 'semconv' };
    const spans = [
      span(
        'execute_tool text',
        tool('text', { ...agent, 'gen_ai.tool.call.arguments': '{"query": "lamp"}' }),
      ),
      span('execute_tool map', tool('map', { ...agent, 'gen_ai.tool.call.arguments': query })),
      span('execute_tool none', tool('none', agent)),
    ];
    const argumentsHash = await hashArguments(query);
    expect(await recorded('opentelemetry.instrumentation.openai_agents', spans, 'semconv')).toEqual([
      { agentId: 'support', toolName: 'text', argumentsHash, responseStatus: 200 },
      { agentId: 'support', toolName: 'map', argumentsHash, responseStatus: 200 },
      { agentId: 'support', toolName: 'none', argumentsHash: unavailable, responseStatus: 200 },
    ]);
  });

  test('reads the status of a failure from exceptions with a module in their name', async () => {
    const span = traceOf();
    const failing = (name: string, type: string) =>
      span(`execute_tool ${name}`, tool(name, { 'gen_ai.conversation.id': 'failures' }), failure(type));
    const spans = [
      failing('late', 'TimeoutError'),
      failing('slow', 'httpx.ReadTimeout'),
      failing('left', 'asyncio.exceptions.CancelledError'),
      failing('invalid', 'pydantic_core._pydantic_core.ValidationError'),
      failing('broken', 'RuntimeError'),
      // https://langchain-ai.github.io/langgraph/concepts/human_in_the_loop/: the tool runs again later
      failing('asks', 'langgraph.errors.GraphInterrupt'),
    ];
    const events = await recorded('tests', spans, 'failures');
    expect(events.map(({ toolName, responseStatus }) => [toolName, responseStatus])).toEqual([
      ['late', 408],
      ['slow', 408],
      ['left', 499],
      ['invalid', 400],
      ['broken', 500],
    ]);
  });
});

// https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md and, for LangChain,
// python/instrumentation/openinference-instrumentation-langchain (`_convert_io`: an input of one string is sent as it is,
// and only JSON has a MIME type)
test('records tool spans of OpenInference', async () => {
  const span = traceOf();
  const tool = { 'openinference.span.kind': 'TOOL', 'session.id': 'openinference' };
  const metadata = JSON.stringify({ lc_agent_name: 'support', thread_id: 'openinference' });
  const spans = [
    span('search', {
      ...tool,
      'tool.name': 'search',
      'tool.description': 'Searches the catalog',
      'input.value': JSON.stringify(query),
      'input.mime_type': 'application/json',
      'output.value': JSON.stringify({ content: 'found', type: 'tool', tool_call_id: 'call_1' }),
      'output.mime_type': 'application/json',
      metadata,
    }),
    span('search', { ...tool, 'tool.name': 'search', 'input.value': "{'query': 'lamp'}" }),
    span('refund', { ...tool, 'tool.parameters': '{"id": 7}' }, failure('ValueError', 'no')),
    span('ChatOpenAI', { 'openinference.span.kind': 'LLM', 'session.id': 'openinference' }),
  ];
  expect(await recorded('openinference.instrumentation.langchain', spans, 'openinference')).toEqual([
    {
      agentId: 'support',
      toolName: 'search',
      argumentsHash: await hashArguments(query),
      responseStatus: 200,
    },
    { agentId: 'support-agent', toolName: 'search', argumentsHash: unavailable, responseStatus: 200 },
    {
      agentId: 'support-agent',
      toolName: 'refund',
      argumentsHash: await hashArguments({ id: 7 }),
      responseStatus: 500,
    },
  ]);
});

// https://github.com/traceloop/openllmetry: `on_tool_start` and `on_tool_end` of
// opentelemetry-instrumentation-langchain, and `@tool` of traceloop-sdk (`decorators/base.py`)
test('records tool spans of OpenLLMetry', async () => {
  const span = traceOf();
  const tool = (name: string, more: object) => ({
    'traceloop.span.kind': 'tool',
    'traceloop.entity.name': name,
    'traceloop.association.properties.session_id': 'openllmetry',
    ...more,
  });
  const message = {
    content: 'found',
    type: 'tool',
    name: 'search',
    tool_call_id: 'call_1',
    status: 'success',
  };
  const constructed = {
    lc: 1,
    type: 'constructor',
    id: ['langchain', 'schema', 'messages', 'ToolMessage'],
    kwargs: message,
  };
  const spans = [
    span(
      'search.tool',
      tool('search', {
        'traceloop.entity.input': JSON.stringify({
          input_str: "{'query': 'lamp'}",
          tags: [],
          metadata: { thread_id: '7' },
          inputs: query,
          kwargs: { color: 'green' },
        }),
        'traceloop.entity.output': JSON.stringify({ output: constructed, kwargs: { tags: [] } }),
      }),
    ),
    span(
      'refund.tool',
      tool('refund', {
        'traceloop.entity.input': JSON.stringify({ args: [], kwargs: { id: 7 } }),
        'traceloop.entity.output': '"done"',
      }),
    ),
    span(
      'lookup.tool',
      tool('lookup', { 'traceloop.entity.input': JSON.stringify({ args: ['lamp'], kwargs: {} }) }),
      failure('KeyError', "'lamp'"),
    ),
    span('agent.workflow', { 'traceloop.span.kind': 'workflow', 'traceloop.entity.name': 'agent' }),
  ];
  const agentId = 'support-agent';
  expect(await recorded('opentelemetry.instrumentation.langchain', spans, 'openllmetry')).toEqual([
    { agentId, toolName: 'search', argumentsHash: await hashArguments(query), responseStatus: 200 },
    { agentId, toolName: 'refund', argumentsHash: await hashArguments({ id: 7 }), responseStatus: 200 },
    { agentId, toolName: 'lookup', argumentsHash: await hashArguments('lamp'), responseStatus: 500 },
  ]);
});

// https://ai.pydantic.dev/logfire/ and `InstrumentationNames` of pydantic_ai_slim/pydantic_ai/_instrumentation.py
describe('Pydantic AI, with Logfire', () => {
  const callArguments = JSON.stringify(query);

  test('records tool spans of every version of its format', async () => {
    const span = traceOf();
    const runId = newId(8);
    const within = { parentSpanId: runId };
    const common = (name: string) => ({
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': `call_${name}`,
      'logfire.msg': `running tool: ${name}`,
      'logfire.json_schema': '{"type":"object"}',
      'logfire.span_type': 'span',
      'session.id': 'pydantic-ai',
    });
    const spans = [
      span(
        'running tool',
        { ...common('second'), tool_arguments: callArguments, tool_response: 'found' },
        within,
      ),
      span(
        'execute_tool third',
        {
          ...common('third'),
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.call.arguments': callArguments,
          'gen_ai.tool.call.result': 'found',
        },
        within,
      ),
      span(
        'running tool',
        { ...common('retried'), tool_arguments: callArguments },
        {
          ...within,
          ...failure('pydantic_ai.exceptions.ToolRetryError', 'again'),
        },
      ),
      span('running tools', { tools: ['second', 'third'], 'logfire.msg': 'running 2 tools' }, within),
      span('chat gpt-4o', { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o' }, within),
      span('agent run', { agent_name: 'support', model_name: 'gpt-4o' }, { spanId: runId }),
    ];
    const argumentsHash = await hashArguments(query);
    const agentId = 'support';
    expect(await recorded('pydantic-ai', spans, 'pydantic-ai')).toEqual([
      { agentId, toolName: 'second', argumentsHash, responseStatus: 200 },
      { agentId, toolName: 'third', argumentsHash, responseStatus: 200 },
      { agentId, toolName: 'retried', argumentsHash, responseStatus: 500 },
    ]);
  });

  test('records neither a tool that waits for approval nor the announcement of a span', async () => {
    const span = traceOf();
    const tool = (name: string, more: object) =>
      span('running tool', {
        'gen_ai.tool.name': name,
        tool_arguments: callArguments,
        'session.id': 'deferred',
        ...more,
      });
    const spans = [
      tool('approved', { 'pydantic_ai.tool.deferral.name': 'ApprovalRequired' }),
      tool('announced', { 'logfire.span_type': 'pending_span' }),
      tool('ran', { 'logfire.span_type': 'span' }),
    ];
    expect(await recorded('pydantic-ai', spans, 'deferred')).toMatchObject([{ toolName: 'ran' }]);
  });
});
