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

test('the session of a call without one is its trace, and calls of one trace are in one session', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder() }));
  const root = begin(provider, 'agent', {});
  for (const name of ['one', 'two']) begin(provider, 'agent', toolAttributes(name), root).end();
  root.end();
  const events = await service.events(root.spanContext().traceId);
  expect(events.map(({ toolName }) => toolName)).toEqual(['one', 'two']);
});

test('spans that are nothing but a tool are not a session each', async () => {
  const recorder = service.recorder({ agentId: 'lone' });
  const provider = providerOf(actlog({ recorder }));
  for (const name of ['one', 'two']) begin(provider, 'agent', toolAttributes(name)).end();
  await recorder.flush();
  const sessions = await service.client.agents.sessions('lone').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([2]);
});

test('session.run says what no span says, and the nearest agent around a call made it', async () => {
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

test('a call that ends after the spans around it is in their session, and told of by one of them', async () => {
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

test('the time of an event is that at which the tool ended', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder(), sessionId: 'timed' }));
  const ended = new Date(Date.now() - 60_000);
  const options = { startTime: ended, attributes: toolAttributes('early') };
  provider.getTracer('agent').startSpan('execute_tool early', options).end(ended);
  const [event] = await service.storedEvents('timed');
  expect(event?.sourceTimestamp).toBe(ended.toISOString());
});

test('two emitters that tell of one call count once, one that tells of it twice counts twice', async () => {
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

test("without an id: a span in an adapter's call is that call's, and one further in its own", async () => {
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

test('spans of version 1 of the SDK are read as those of version 2', async () => {
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

test('two processors with recorders of their own both record', async () => {
  const options = { sessionId: 'two-recorders' };
  const first = actlog({ ...options, recorder: service.recorder() });
  const second = actlog({ ...options, recorder: service.recorder() });
  begin(providerOf(first, second), 'agent', toolAttributes('shared')).end();
  expect(await service.events('two-recorders')).toHaveLength(2);
});

test('two copies of the package count each call once', async () => {
  const second = await secondCopy(() => import('./index.ts'));
  expect(second.actlog).not.toBe(actlog);
  const options = { recorder: service.recorder(), sessionId: 'two-copies' };
  begin(providerOf(actlog(options), second.actlog(options)), 'agent', toolAttributes('shared')).end();
  expect(await service.events('two-copies')).toHaveLength(1);
});

test('arguments that a span cuts short are known as not known', async () => {
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

test('to flush or shut down the provider delivers events, and the recorder goes on', async () => {
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

test('a call of a trace that is not sampled is not seen', async () => {
  const recorder = service.recorder();
  const sampler = new AlwaysOffSampler();
  const spanProcessors = [actlog({ recorder, sessionId: 'unsampled' })];
  begin(new BasicTracerProvider({ sampler, spanProcessors }), 'agent', toolAttributes('lost')).end();
  expect(await service.events('unsampled')).toEqual([]);
});

test('a tool that answers Strands that it failed has failed, though its span ended well', async () => {
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

test("a tool that Anthropic's SDK gave up has been aborted, as only the lack of a status says", async () => {
  const provider = providerOf(actlog({ recorder: service.recorder() }));
  for (const scope of ['com.anthropic.sdk.typescript', 'com.anthropic.sdk.typescript.bedrock']) {
    const attributes = { ...toolAttributes(scope), 'anthropic.session.id': 'given-up' };
    begin(provider, scope, attributes).setStatus({ code: SpanStatusCode.OK }).end();
    begin(provider, scope, attributes).end();
  }
  expect((await service.events('given-up')).map(({ status }) => status)).toEqual([200, 499, 200, 499]);
});

test('a tool of Genkit that answers with several parts is a tool', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder(), sessionId: 'parts' }));
  for (const kind of ['tool', 'tool.v2', 'model']) {
    const attributes = { 'genkit:name': kind, 'genkit:metadata:subtype': kind, 'genkit:input': '{}' };
    begin(provider, 'genkit-tracer', attributes).end();
  }
  expect((await service.events('parts')).map(({ toolName }) => toolName)).toEqual(['tool', 'tool.v2']);
});

test('arguments that Google ADK leaves out, as its content is not to be captured, are not known', async () => {
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

test('a tool of Strands that waits for a person is recorded when it comes again and ends', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder(), sessionId: 'waiting' }));
  const attributes = { ...toolAttributes('ask', '1'), 'gen_ai.event.start_time': '2026-01-02T03:04:05.006Z' };
  const ok = { code: SpanStatusCode.OK };
  begin(provider, 'my-service', attributes).setStatus(ok).end();
  begin(provider, 'my-service', attributes).setAttribute('gen_ai.tool.status', 'success').setStatus(ok).end();
  expect(await service.events('waiting')).toMatchObject([{ toolName: 'ask', status: 200 }]);
});

test('a result is what the tool returned, also for the mapping of statuses, where the span shows it as JSON', async () => {
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

test('what a schema refuses Mastra tells as the result of a call that ended well', async () => {
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

test("a tool of the AI SDK is known whole behind Traceloop's processor, which writes its span anew", async () => {
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

test('a tool that ran when the run of the AI SDK was aborted has been aborted', async () => {
  const provider = providerOf(actlog({ recorder: service.recorder(), sessionId: 'stopped' }));
  const attributes = { ...toolAttributes('slow'), 'gen_ai.tool.type': 'function' };
  begin(provider, 'gen_ai', attributes).end();
  begin(provider, 'gen_ai', { ...attributes, 'gen_ai.execute_tool.duration': 0.5 }).end();
  begin(provider, 'gen_ai', { ...attributes, 'gen_ai.tool.type': 'extension' }).end();
  expect((await service.events('stopped')).map(({ status }) => status)).toEqual([499, 200, 200]);
});
