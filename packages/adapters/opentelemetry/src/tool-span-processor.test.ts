import { Service, secondCopy } from '@actlog/adapter-suite';
import { hashArguments, type ToolOutcome } from '@actlog/recorder';
import { AdapterCalls } from '@actlog/recorder/adapter';
import { type Attributes, ROOT_CONTEXT, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  type ReadableSpan,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

function providerOf(...spanProcessors: SpanProcessor[]) {
  return new BasicTracerProvider({ spanProcessors });
}

function begin(provider: BasicTracerProvider, scope: string, attributes: Attributes, outer?: Span): Span {
  const within = outer ? trace.setSpan(ROOT_CONTEXT, outer) : ROOT_CONTEXT;
  return provider.getTracer(scope).startSpan('span', { attributes }, within);
}

function toolAttributes(name: string, callId?: string): Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.arguments': '{}',
    ...(callId && { 'gen_ai.tool.call.id': callId }),
  };
}

test('uses the trace as the session of calls without one', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder() }));
  const root = begin(provider, 'agent', {});
  for (const name of ['one', 'two']) begin(provider, 'agent', toolAttributes(name), root).end();
  root.end();
  const events = await service.events(root.spanContext().traceId);
  expect(events.map(({ toolName }) => toolName)).toEqual(['one', 'two']);
});

test('does not use single-span traces as sessions', async () => {
  const recorder = service.recorder({ agentId: 'lone' });
  const provider = providerOf(actlog({ recorder }));
  for (const name of ['one', 'two']) begin(provider, 'agent', toolAttributes(name)).end();
  await recorder.flush();
  const sessions = await service.client.agents.sessions('lone').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2]);
});

test('uses session.run without a session in spans, and the nearest enclosing agent', async () => {
  const recorder = service.recorder();
  const provider = providerOf(actlog({ recorder }));
  recorder.session('surrounding').run(() => {
    const outer = begin(provider, 'agent', { 'gen_ai.agent.name': 'outer' });
    const inner = begin(provider, 'agent', { 'gen_ai.agent.name': 'inner' }, outer);
    begin(provider, 'agent', toolAttributes('deep'), inner).end();
    inner.end();
    begin(provider, 'agent', toolAttributes('shallow'), outer).end();
    outer.end();
  });
  expect(await service.events('surrounding')).toMatchObject([
    { agentId: 'inner', toolName: 'deep' },
    { agentId: 'outer', toolName: 'shallow' },
  ]);
});

test('uses the session of enclosing spans that ended earlier, and reports the call once', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder() }));
  const agent = { 'gen_ai.agent.name': 'support', 'gen_ai.conversation.id': 'late' };
  const root = begin(provider, 'first', agent);
  const call = begin(provider, 'first', toolAttributes('slow'), root);
  const same = begin(provider, 'second', toolAttributes('slow'), call);
  root.end();
  call.end();
  same.end();
  expect(await service.events('late')).toMatchObject([{ agentId: 'support', toolName: 'slow' }]);
  expect(await service.events(root.spanContext().traceId)).toEqual([]);
});

test('uses the end time of the tool for the event', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder(), sessionId: 'timed' }));
  const ended = new Date(Date.now() - 60_000);
  const options = { startTime: ended, attributes: toolAttributes('early') };
  provider.getTracer('agent').startSpan('execute_tool early', options).end(ended);
  const [event] = await service.storedEvents('timed');
  expect(event?.sourceTimestamp).toBe(ended.toISOString());
});

test('counts a call of two emitters once, and two calls of one emitter twice', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder(), sessionId: 'two-emitters' }));
  const root = begin(provider, 'first', {});
  const call = begin(provider, 'first', toolAttributes('by-place'), root);
  begin(provider, 'second', toolAttributes('by-place'), call).end();
  call.end();
  begin(provider, 'first', toolAttributes('by-id', '1'), root).end();
  begin(provider, 'second', toolAttributes('by-id', '1'), root).end();
  begin(provider, 'first', toolAttributes('again', '2'), root).end();
  begin(provider, 'first', toolAttributes('again', '2'), root).end();
  begin(provider, 'second', toolAttributes('without-id'), root).end();
  root.end();
  const names = (await service.events('two-emitters')).map(({ toolName }) => toolName);
  expect(names).toEqual(['by-place', 'by-id', 'again', 'again', 'without-id']);
});

test("matches a span without an id to the adapter's call, and an inner span to none", async () => {
  const recorder = service.recorder();
  const sessionId = 'begun-in-a-call';
  const provider = providerOf(actlog({ recorder, sessionId }));
  const calls = new AdapterCalls({ framework: 'native', sdk: '@example/native/1.0.0' }, { recorder });
  const call = { toolName: 'ask', arguments: {}, sessionId };
  await calls.run(call, () => {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const own = begin(provider, 'agent', toolAttributes('ask'));
      begin(provider, 'agent', toolAttributes('ask'), own).end();
      begin(provider, 'agent', toolAttributes('search'), own).end();
      own.end();
    }
  });
  begin(provider, 'agent', toolAttributes('ask')).end();
  const names = (await service.events(sessionId)).map(({ toolName }) => toolName);
  expect(names.toSorted()).toEqual(['ask', 'ask', 'ask', 'ask', 'search', 'search']);
});

test('reads spans of version 1 of the SDK', async () => {
  const asVersion1 = {
    onStart: (span: object) => {
      const { instrumentationScope, parentSpanContext } = span as ReadableSpan;
      Object.assign(span, {
        instrumentationScope: undefined,
        instrumentationLibrary: instrumentationScope,
        parentSpanContext: undefined,
        parentSpanId: parentSpanContext?.spanId,
      });
    },
    onEnd: () => {},
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const provider = providerOf(asVersion1, actlog({ recorder: service.recorder() }));
  const root = begin(provider, 'first', { 'gen_ai.agent.name': 'support' });
  const call = begin(provider, 'first', toolAttributes('search'), root);
  begin(provider, 'second', toolAttributes('search'), call).end();
  call.end();
  root.end();
  expect(await service.events(root.spanContext().traceId)).toMatchObject([
    { agentId: 'support', toolName: 'search', status: 200 },
  ]);
});

test('records with both of two processors with different recorders', async () => {
  const options = { sessionId: 'two-recorders' };
  const first = actlog({ ...options, recorder: service.recorder() });
  const second = actlog({ ...options, recorder: service.recorder() });
  begin(providerOf(first, second), 'agent', toolAttributes('shared')).end();
  expect(await service.events('two-recorders')).toHaveLength(2);
});

test('counts each call once with two copies of the package', async () => {
  const second = await secondCopy(() => import('./index.ts'));
  expect(second.actlog).not.toBe(actlog);
  const options = { recorder: service.recorder(), sessionId: 'two-copies' };
  begin(providerOf(actlog(options), second.actlog(options)), 'agent', toolAttributes('shared')).end();
  expect(await service.events('two-copies')).toHaveLength(1);
});

test('treats truncated arguments as unknown', async () => {
  const recorder = service.recorder();
  const provider = new BasicTracerProvider({
    spanLimits: { attributeValueLengthLimit: 12 },
    spanProcessors: [actlog({ recorder, sessionId: 'cut' })],
  });
  const attributes = { ...toolAttributes('long'), 'gen_ai.tool.call.arguments': '{"text":"a long one"}' };
  begin(provider, 'agent', attributes).end();
  const [event] = await service.storedEvents('cut');
  expect(event?.payload?.argumentsHash).toBe('sha256:unavailable');
});

test('delivers events on flush and shutdown, and keeps the recorder open', async () => {
  const recorder = service.recorder();
  const provider = providerOf(actlog({ recorder, sessionId: 'flushed' }));
  begin(provider, 'agent', toolAttributes('one')).end();
  await provider.forceFlush();
  expect(recorder.stats()).toMatchObject({ delivered: 1 });
  begin(provider, 'agent', toolAttributes('two')).end();
  await provider.shutdown();
  expect(recorder.stats()).toMatchObject({ delivered: 2 });
  recorder.record({ toolName: 'three', arguments: {}, responseStatus: 200, sessionId: 'flushed' });
  expect(await service.events('flushed')).toHaveLength(3);
});

test('does not record calls of unsampled traces', async () => {
  const recorder = service.recorder();
  const sampler = new AlwaysOffSampler();
  const spanProcessors = [actlog({ recorder, sessionId: 'unsampled' })];
  begin(new BasicTracerProvider({ sampler, spanProcessors }), 'agent', toolAttributes('lost')).end();
  expect(await service.events('unsampled')).toEqual([]);
});

test('records a Strands error result as a failure, although its span succeeded', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder(), sessionId: 'answered' }));
  for (const status of ['success', 'error']) {
    const span = begin(provider, 'strands-agents', toolAttributes(status));
    span.setAttribute('gen_ai.tool.status', status).setStatus({ code: SpanStatusCode.OK }).end();
  }
  expect(await service.events('answered')).toMatchObject([
    { toolName: 'success', status: 200 },
    { toolName: 'error', status: 500 },
  ]);
});

test('records an Anthropic span without a status as aborted', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder() }));
  for (const scope of ['com.anthropic.sdk.typescript', 'com.anthropic.sdk.typescript.bedrock']) {
    const attributes = { ...toolAttributes(scope), 'anthropic.session.id': 'given-up' };
    begin(provider, scope, attributes).setStatus({ code: SpanStatusCode.OK }).end();
    begin(provider, scope, attributes).end();
  }
  expect((await service.events('given-up')).map(({ status }) => status)).toEqual([200, 499, 200, 499]);
});

test('records a Genkit tool that returns several parts', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder(), sessionId: 'parts' }));
  for (const kind of ['tool', 'tool.v2', 'model']) {
    const attributes = { 'genkit:name': kind, 'genkit:metadata:subtype': kind, 'genkit:input': '{}' };
    begin(provider, 'genkit-tracer', attributes).end();
  }
  expect((await service.events('parts')).map(({ toolName }) => toolName)).toEqual(['tool', 'tool.v2']);
});

test('treats arguments omitted by Google ADK as unknown', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder(), sessionId: 'not-captured' }));
  for (const shown of ['{}', '{"result":"done"}']) {
    const span = provider.getTracer('gcp.vertex.agent').startSpan('execute_tool search');
    span.setAttribute('gen_ai.tool.name', 'search');
    span.setAttribute('gcp.vertex.agent.tool_call_args', '{}');
    span.setAttribute('gcp.vertex.agent.tool_response', shown).end();
  }
  const events = await service.storedEvents('not-captured');
  expect(events.map(({ payload }) => payload?.argumentsHash)).toEqual([
    'sha256:unavailable',
    await hashArguments({}),
  ]);
});

test('records a Strands tool that waits for a person after it runs again', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder(), sessionId: 'waiting' }));
  const attributes = { ...toolAttributes('ask', '1'), 'gen_ai.event.start_time': '2026-01-02T03:04:05.006Z' };
  const ok = { code: SpanStatusCode.OK };
  begin(provider, 'my-service', attributes).setStatus(ok).end();
  begin(provider, 'my-service', attributes).setAttribute('gen_ai.tool.status', 'success').setStatus(ok).end();
  expect(await service.events('waiting')).toMatchObject([{ toolName: 'ask', status: 200 }]);
});

test('passes the parsed result of a span to the status mapping', async () => {
  const results: unknown[] = [];
  const responseStatus = (outcome: ToolOutcome) => void results.push(outcome.ok && outcome.result);
  const options = { recorder: service.recorder(), sessionId: 'results', responseStatus };
  const provider = providerOf(actlog(options));
  const failed = { content: [{ type: 'text', text: 'no' }], isError: true };
  for (const shown of ['found', '"found"', JSON.stringify(failed)]) {
    const attributes = { ...toolAttributes('ask'), 'gen_ai.tool.call.result': shown };
    begin(provider, 'agent', attributes).end();
  }
  expect((await service.events('results')).map(({ status }) => status)).toEqual([200, 200, 500]);
  expect(results).toEqual(['found', 'found', failed]);
});

test("records Mastra's validation results as failures", async () => {
  const provider = providerOf(actlog({ recorder: service.recorder(), sessionId: 'refused' }));
  for (const what of ['input', 'output']) {
    const refusal = { error: true, message: `Tool ${what} validation failed.`, validationErrors: {} };
    const attributes = {
      ...toolAttributes(what),
      'mastra.span.type': 'tool_call',
      'gen_ai.tool.call.result': JSON.stringify(refusal),
    };
    begin(provider, '@mastra/otel-bridge', attributes).setStatus({ code: SpanStatusCode.OK }).end();
  }
  expect((await service.events('refused')).map(({ status }) => status)).toEqual([400, 500]);
});

test("records an AI SDK tool whose span Traceloop's processor has rewritten", async () => {
  const recorder = service.recorder();
  const provider = providerOf(actlog({ recorder, sessionId: 'written-anew' }));
  const calls = new AdapterCalls({ framework: 'native', sdk: '@example/native/1.0.0' }, { recorder });
  const shown = {
    'ai.operationId': 'ai.toolCall',
    'traceloop.span.kind': 'tool',
    'traceloop.entity.input': '{"args":["lamp"]}',
    'traceloop.entity.output': '"found"',
    'gen_ai.tool.call.arguments': '{"args":["lamp"]}',
  };
  calls.record({ toolName: 'seen', arguments: {}, callId: '1' }, { ok: true, result: 'found' });
  begin(provider, 'ai', { ...toolAttributes('seen', '1'), ...shown }).end();
  begin(provider, 'ai', { ...toolAttributes('search', '2'), ...shown }).end();
  const events = await service.storedEvents('written-anew');
  expect(events.map(({ payload }) => payload)).toMatchObject([
    { toolName: 'search', argumentsHash: await hashArguments({ args: ['lamp'] }) },
  ]);
});

test('records a running tool of an aborted AI SDK run as aborted', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder(), sessionId: 'stopped' }));
  const attributes = { ...toolAttributes('slow'), 'gen_ai.tool.type': 'function' };
  begin(provider, 'gen_ai', attributes).end();
  begin(provider, 'gen_ai', { ...attributes, 'gen_ai.execute_tool.duration': 0.5 }).end();
  begin(provider, 'gen_ai', { ...attributes, 'gen_ai.tool.type': 'extension' }).end();
  expect((await service.events('stopped')).map(({ status }) => status)).toEqual([499, 200, 200]);
});
