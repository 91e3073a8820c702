import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testServer } from '../test-server.ts';
import { keyValues, protobufOf, sendTraces, toolSpanJson, traceRequest } from './trace-request.ts';

/** Values that readers of JSON may trip over. */
const oddValue = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    0,
    -1,
    true,
    [],
    {},
    { toString: 1 },
    { valueOf: 1, __isLong__: true },
    { length: 3 },
    'NaN',
    '99999999999999999999',
    '\ud800',
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

/** A string that the parsers of the dialects read, or any other. */
const text = fc.oneof(
  fc.constantFrom(
    'null',
    '5',
    '"x"',
    '[]',
    '{"args":[]}',
    '{"args":null,"kwargs":7}',
    '{"output":null}',
    '{"output":{"tool_call_id":7,"kwargs":null}}',
    '{"input":null}',
    '{"input":"{\\"a\\":1}"}',
    '{"name":"x","arguments":null}',
    '{"method":"tools/call","params":null}',
    '[null,{"parts":[null,{"type":"tool_call","arguments":"["}]},{"content":7}]',
    'STATUS_CODE_ERROR',
    '{',
  ),
  fc.json({ maxDepth: 3 }),
  fc.string({ unit: 'binary' }),
);

const attributeNames = [
  'gen_ai.operation.name',
  'gen_ai.tool.name',
  'gen_ai.tool.call.arguments',
  'gen_ai.tool.call.result',
  'gen_ai.tool.status',
  'gen_ai.conversation.id',
  'gen_ai.agent.name',
  'gen_ai.agent.id',
  'gen_ai.input.messages',
  'gen_ai.prompt',
  'input.mime_type',
  'langsmith.metadata.thread_id',
  'lk.function_tool.is_error',
  'mcp.method.name',
  'mlflow.spanInputs',
  'mlflow.spanType',
  'tool.parameters',
  'gen_ai.event.start_time',
  'openinference.span.kind',
  'input.value',
  'output.value',
  'metadata',
  'traceloop.span.kind',
  'traceloop.entity.input',
  'traceloop.entity.output',
  'mastra.span.type',
  'ai.operationId',
  'genkit:name',
  'genkit:metadata:subtype',
  'genkit:input',
  'error.type',
  'exception.type',
  'exception.message',
  '__proto__',
];

const attributeValue = fc.oneof(
  fc
    .constantFrom('execute_tool', 'tool', 'TOOL', 'ai.toolCall', 'tool_call')
    .map((stringValue) => ({ stringValue })),
  text.map((stringValue) => ({ stringValue })),
  fc.record(
    {
      stringValue: oddValue,
      intValue: oddValue,
      doubleValue: oddValue,
      boolValue: oddValue,
      arrayValue: oddValue,
      kvlistValue: oddValue,
      bytesValue: oddValue,
    },
    { requiredKeys: [] },
  ),
);

/** Attributes that make a span one of a tool, by emitter. */
const toolAttributes = fc.constantFrom<Record<string, string>>(
  {},
  { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'x' },
  { 'openinference.span.kind': 'TOOL' },
  { 'traceloop.span.kind': 'tool' },
  { 'ai.operationId': 'ai.toolCall', 'ai.toolCall.name': 'x' },
  { 'mcp.method.name': 'tools/call' },
  { 'langsmith.span.kind': 'tool', 'gen_ai.operation.name': 'execute_tool' },
  { 'genkit:name': 'x', 'genkit:metadata:subtype': 'tool' },
  { 'mastra.span.type': 'tool_call', 'gen_ai.operation.name': 'execute_tool' },
);

const oddAttributes = fc.array(
  fc.record({
    key: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...attributeNames) },
      { weight: 1, arbitrary: oddValue },
    ),
    value: attributeValue,
  }),
  { maxLength: 8 },
);

// The last of two attributes with the same name counts.
const attributes = fc
  .tuple(oddAttributes, toolAttributes)
  .map(([odd, known]) => [...odd, ...keyValues(known)]);

const scopes = fc.constantFrom(
  'tests',
  'gcp.vertex.agent',
  'gen_ai',
  'com.anthropic.sdk.typescript',
  'pydantic-ai',
  '@mastra/otel-bridge',
);

const id = (bytes: number) =>
  fc.oneof(
    {
      weight: 9,
      arbitrary: fc
        .uint8Array({ minLength: bytes, maxLength: bytes })
        .map((of) => Buffer.from(of).toString('hex')),
    },
    { weight: 1, arbitrary: oddValue },
  );

const span = fc.record(
  {
    traceId: id(16),
    spanId: id(8),
    parentSpanId: id(8),
    name: fc.oneof(fc.constantFrom('execute_tool x', "agent run: 'a'"), oddValue),
    endTimeUnixNano: fc.oneof(
      { weight: 9, arbitrary: fc.constant('1767323045678000000') },
      { weight: 1, arbitrary: oddValue },
    ),
    attributes: fc.oneof({ weight: 19, arbitrary: attributes }, { weight: 1, arbitrary: oddValue }),
    events: fc.array(fc.record({ name: fc.constantFrom('exception', 'gen_ai.tool.message'), attributes })),
    status: fc.oneof(fc.record({ code: oddValue, message: oddValue }), fc.constant({ code: 2 })),
  },
  { requiredKeys: ['traceId', 'spanId', 'endTimeUnixNano', 'attributes'] },
);

const request = fc
  .record({
    spans: fc.array(fc.oneof({ weight: 9, arbitrary: span }, { weight: 1, arbitrary: oddValue }), {
      maxLength: 4,
    }),
    scope: scopes,
    resource: fc.oneof(fc.constant(keyValues({ 'service.name': 'x' })), attributes, oddValue),
  })
  .map(({ spans, scope, resource }) => ({
    resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ scope: { name: scope }, spans }] }],
  }));

test('returns 200 or 400 for any JSON, and stores only valid events', async () => {
  const server = await testServer();
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 9, arbitrary: request }, { weight: 1, arbitrary: oddValue }),
      async (body) => {
        const response = await sendTraces(server, JSON.stringify(body));
        statuses.add(response.status);
        await response.arrayBuffer();
        expect([200, 400]).toContain(response.status);
      },
    ),
    { numRuns: 400 },
  );
  expect([...statuses].sort()).toEqual([200, 400]);
  const { items } = await server.ok('sessions.list');
  expect(items.length).toBeGreaterThan(20);
  // Each response is checked against the schemas.
  for (const { id: sessionId } of items) await server.ok('sessions.get', { id: sessionId });
});

test('returns 200 or 400 for changed protobuf and gzip, and stores nothing of a request that it refuses', async () => {
  const server = await testServer();
  const good = protobufOf(
    traceRequest([
      toolSpanJson('search', { list: [1, { a: true }, 'x'], 'gen_ai.conversation.id': 'changed' }),
    ]),
  );
  const changes = fc.array(
    fc.record({
      at: fc.nat(good.length - 1),
      to: fc.integer({ min: 0, max: 255 }),
      cut: fc.nat(good.length),
    }),
    { minLength: 1, maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(changes, fc.boolean(), fc.boolean(), async (list, isCut, isGzip) => {
      let bytes = isGzip ? gzipSync(good) : Buffer.from(good);
      for (const { at, to, cut } of list) {
        bytes[at % bytes.length] = to;
        if (isCut) bytes = bytes.subarray(0, Math.max(1, cut));
      }
      const sessions = async () =>
        (await server.ok('sessions.list')).items.map(({ id, eventCount }) => [id, eventCount]);
      const before = await sessions();
      const response = await sendTraces(server, bytes, isGzip ? { 'content-encoding': 'gzip' } : {});
      await response.arrayBuffer();
      expect([200, 400]).toContain(response.status);
      if (response.status === 400) expect(await sessions()).toEqual(before);
    }),
    { numRuns: 300 },
  );
});
