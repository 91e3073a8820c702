import { hashArguments } from '@actlog/tool-call';
import { expect, test } from 'vitest';
import { failure, recorded, traceOf } from './python-spans.ts';
import type { SpanJson } from './trace-request.ts';

const query = { query: 'lamp' };
const json = JSON.stringify(query);
const bytes = (text: string) => ({ bytesValue: Buffer.from(text).toString('base64') });
const okStatus = { code: 1 };

interface Emitted {
  readonly scope: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly fields?: SpanJson;
  readonly agentId?: string;
  readonly toolName?: string;
  readonly responseStatus?: number;
}

const session = { 'session.id': 'emitters' };

/** Spans of `search` with the arguments `{ query: 'lamp' }`, written by the conventions of each emitter. */
const emitters: Record<string, Emitted> = {
  'traceloop @tool with the conventions': {
    scope: 'traceloop.tracer',
    name: 'search.tool',
    attributes: {
      'traceloop.span.kind': 'tool',
      'traceloop.entity.name': 'search',
      'gen_ai.tool.name': 'search',
      'traceloop.entity.input': JSON.stringify({ args: [], kwargs: query }),
      'traceloop.association.properties.thread_id': 'emitters',
    },
  },
  'OpenLLMetry for MCP': {
    scope: 'opentelemetry.instrumentation.mcp',
    name: 'search.tool',
    attributes: {
      'traceloop.span.kind': 'tool',
      'traceloop.entity.name': 'search',
      'traceloop.entity.input': JSON.stringify({ tool_name: 'search', arguments: query }),
      ...session,
    },
  },
  Agno: {
    scope: 'openinference.instrumentation.agno',
    name: 'search',
    attributes: {
      'openinference.span.kind': 'TOOL',
      'gen_ai.tool.name': 'search',
      'input.value': json,
      'input.mime_type': 'application/json',
      ...session,
    },
  },
  'OpenInference with the schema of the arguments': {
    scope: 'openinference.instrumentation',
    name: 'tool_execution',
    attributes: {
      'openinference.span.kind': 'TOOL',
      'tool_call.function.name': 'search',
      'tool_call.function.arguments': json,
      'tool.parameters': '{"type":"object","properties":{"query":{"type":"string"}}}',
      ...session,
    },
  },
  FastMCP: {
    scope: 'fastmcp',
    name: 'tools/call search',
    attributes: {
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'search',
      'fastmcp.component.type': 'tool',
      'fastmcp.component.key': 'tool:search@',
      'gen_ai.tool.call.arguments': json,
      ...session,
    },
  },
  'LangSmith, whose inputs are bytes': {
    scope: 'langsmith',
    name: 'search',
    attributes: {
      'langsmith.span.kind': 'tool',
      'langsmith.trace.name': 'search',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.prompt': bytes(JSON.stringify({ input: json })),
      'langsmith.metadata.thread_id': 'emitters',
    },
  },
  'LangSmith, where the tool failed': {
    scope: 'langsmith',
    name: 'search',
    attributes: {
      'langsmith.span.kind': 'tool',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.serialized.signature': '(query: str)',
      'gen_ai.prompt': bytes(json),
      'langsmith.metadata.thread_id': 'emitters',
    },
    fields: {
      ...failure('Exception', "ValueError('no')Traceback (most recent call last)"),
      status: okStatus,
    },
    responseStatus: 500,
  },
  'OpenInference over ADK, where the tool failed': {
    scope: 'gcp.vertex.agent',
    name: 'execute_tool search',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'openinference.span.kind': 'TOOL',
      'tool.name': 'search',
      'error.type': 'ValueError',
      'gcp.vertex.agent.tool_call_args': json,
      ...session,
    },
    fields: { status: okStatus },
    responseStatus: 500,
  },
  "ADK's arguments in another scope": {
    scope: 'acme',
    name: 'execute_tool search',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gcp.vertex.agent.tool_call_args': json,
      ...session,
    },
  },
  'the conventions, with the call in messages': {
    scope: 'acme',
    name: 'execute_tool search',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search',
      'gen_ai.input.messages': JSON.stringify([
        { role: 'tool', parts: [{ type: 'tool_call', name: 'search', id: '1', arguments: query }] },
      ]),
      ...session,
    },
  },
  // Others
  Langfuse: {
    scope: 'langfuse-sdk',
    name: 'search',
    attributes: {
      'langfuse.observation.type': 'tool',
      'langfuse.observation.input': json,
      'langfuse.session.id': 'emitters',
    },
  },
  MLflow: {
    scope: 'mlflow',
    name: 'search',
    attributes: { 'mlflow.spanType': '"TOOL"', 'mlflow.spanInputs': json, ...session },
  },
  'LiveKit Agents, where the tool failed': {
    scope: 'livekit-agents',
    name: 'function_tool',
    attributes: {
      'lk.function_tool.name': 'search',
      'lk.function_tool.id': 'call_1',
      'lk.function_tool.arguments': json,
      'lk.function_tool.is_error': true,
      ...session,
    },
    responseStatus: 500,
  },
  'Spring AI': {
    scope: 'org.springframework.boot',
    name: 'tool_call search',
    attributes: {
      'gen_ai.operation.name': 'framework',
      'spring.ai.kind': 'tool_call',
      'spring.ai.tool.definition.name': 'search',
      'spring.ai.tool.call.arguments': json,
      ...session,
    },
  },
  Laminar: {
    scope: 'lmnr.sdk',
    name: 'search',
    attributes: {
      'lmnr.span.type': 'TOOL',
      'lmnr.span.input': json,
      'lmnr.association.properties.session_id': 'emitters',
    },
  },
  LoongSuite: {
    scope: 'loongsuite.langchain',
    name: 'execute_tool search',
    attributes: {
      'gen_ai.span.kind': 'TOOL',
      'gen_ai.tool.name': 'search',
      'gen_ai.tool.call.arguments': json,
      'gen_ai.session.id': 'emitters',
    },
  },
};

test.each(Object.entries(emitters))('records tool spans of %s', async (_name, emitted) => {
  const { scope, name, attributes, fields, agentId = 'support-agent', toolName = 'search' } = emitted;
  const spans = [traceOf()(name, attributes, fields)];
  expect(await recorded(scope, spans, 'emitters')).toEqual([
    {
      agentId,
      toolName,
      argumentsHash: await hashArguments(query),
      responseStatus: emitted.responseStatus ?? 200,
    },
  ]);
});

test.each([
  ['tool cancelled by user', 499],
  ['Unknown tool: search', 404],
  ['Error: it broke', 500],
])('reads the status of a tool of Strands that responses %j', async (text, responseStatus) => {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'search',
    'gen_ai.event.start_time': '2026-01-01T00:00:00Z',
    'gen_ai.tool.status': 'error',
    ...session,
  };
  const latest = [{ role: 'tool', parts: [{ type: 'tool_call_response', id: '1', response: [{ text }] }] }];
  const responses = [
    {
      name: 'gen_ai.choice',
      attributes: [{ key: 'message', value: { stringValue: JSON.stringify([{ text }]) } }],
    },
    {
      name: 'gen_ai.client.inference.operation.details',
      attributes: [{ key: 'gen_ai.output.messages', value: { stringValue: JSON.stringify(latest) } }],
    },
  ];
  const span = traceOf();
  const spans = responses.map((event) =>
    span('execute_tool search', attributes, { status: okStatus, events: [event] }),
  );
  expect(await recorded('strands.telemetry.tracer', spans, 'emitters')).toMatchObject([
    { responseStatus },
    { responseStatus },
  ]);
});

test('prefers the name of an agent to an id that is generated for each run', async () => {
  const span = traceOf();
  const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search', ...session };
  const generated = { 'gen_ai.agent.id': '0b0f9a3e-6d1c-4f0e-9a53-6a2f0a7f6f11' };
  const runId = 'c1c1c1c1c1c1c1c1';
  const spans = [
    span('execute_tool search', { ...tool, ...generated, 'gen_ai.agent.name': 'support' }),
    span('execute_tool search', { ...tool, ...generated }, { parentSpanId: runId }),
    span(
      'invoke_agent',
      { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'outer' },
      { spanId: runId },
    ),
    span('execute_tool search', { ...tool, 'gen_ai.agent.id': 'billing', 'gen_ai.agent.name': 'Billing' }),
    span('execute_tool search', { ...tool, ...generated }),
  ];
  const events = await recorded('acme', spans, 'emitters');
  expect(events.map(({ agentId }) => agentId)).toEqual([
    'support',
    'outer',
    'billing',
    generated['gen_ai.agent.id'],
  ]);
});

test('counts a request of MCP inside a tool as the call of the tool, but not inside an agent that is a tool', async () => {
  const span = traceOf();
  const [toolId, clientId, researchId, agentId] = [
    'a1'.repeat(8),
    'a2'.repeat(8),
    'a3'.repeat(8),
    'a4'.repeat(8),
  ];
  const tool = (toolName: string) => ({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': toolName,
    ...session,
  });
  const request = (toolName: string) => ({
    'mcp.method.name': 'tools/call',
    'gen_ai.tool.name': toolName,
    ...session,
  });
  const spans = [
    span('tools/call search', request('search'), { parentSpanId: clientId }),
    span('MCP send tools/call search', request('search'), { spanId: clientId, parentSpanId: toolId }),
    span('execute_tool shop_search', tool('shop_search'), { spanId: toolId }),
    span('tools/call lookup', request('lookup'), { parentSpanId: agentId }),
    span('tools/list', { 'mcp.method.name': 'tools/list' }, { parentSpanId: agentId }),
    span(
      'invoke_agent',
      { 'gen_ai.operation.name': 'invoke_agent' },
      { spanId: agentId, parentSpanId: researchId },
    ),
    span('execute_tool research', tool('research'), { spanId: researchId }),
  ];
  const events = await recorded('mcp', spans, 'emitters');
  expect(events.map(({ toolName }) => toolName)).toEqual(['shop_search', 'lookup', 'research']);
});

test('reads the outcome of a tool of Claude Code from the spans inside it, and counts these as no calls', async () => {
  const span = traceOf();
  const calls = { Read: ['execution', { success: true }], Bash: ['execution', { success: false }] } as const;
  const rejected = { Write: ['blocked_on_user', { decision: 'reject' }] } as const;
  const spans = Object.entries({ ...calls, ...rejected }).flatMap(([toolName, [inner, outcome]], at) => {
    const ids = { tool_use_id: `toolu_${at}`, 'gen_ai.tool.call.id': `toolu_${at}`, ...session };
    const spanId = `c${at}`.repeat(8);
    return [
      span(`claude_code.tool.${inner}`, { ...ids, ...outcome }, { parentSpanId: spanId }),
      span('claude_code.tool', { ...ids, tool_name: toolName }, { spanId }),
    ];
  });
  expect(await recorded('com.anthropic.claude_code.tracing', spans, 'emitters')).toMatchObject([
    { toolName: 'Read', argumentsHash: 'sha256:unavailable', responseStatus: 200 },
    { toolName: 'Bash', responseStatus: 500 },
    { toolName: 'Write', responseStatus: 403 },
  ]);
});
