import { AsyncLocalStorage } from 'node:async_hooks';
import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import { AdapterCalls } from '@actlog/recorder/adapter';
import { type Span, SpanStatusCode } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { actlog } from '../src/index.ts';
import { fixture, replay } from './fixture.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const unshown = 'sha256:unavailable';
const query = { query: 'lamp' };

/** Facts that each emitter reports, beyond the names of the tools and their outcomes. */
const emitters: Record<string, Partial<Told>> = {
  'ai-sdk-otel': { agentId: 'support' },
  'ai-sdk-otel-legacy': { agentId: 'support', sessionId: 's-1' },
  anthropic: { callArguments: undefined, failedArguments: undefined },
  'anthropic-with-content': { sessionId: 's-1' },
  genkit: { callId: undefined },
  'google-adk': { agentId: 'support', sessionId: 's-1', failedArguments: undefined },
  mastra: { agentId: 'support', sessionId: 's-1' },
  'openinference-langchain': { agentId: 'support', sessionId: 's-1', callArguments: 'lamp' },
  strands: { agentId: 'support' },
  'traceloop-langchain': { failedTool: 'DynamicStructuredTool' },
};

interface Told {
  readonly agentId: string;
  /** Undefined: the trace, which is only known in the run itself. */
  readonly sessionId: string | undefined;
  readonly callId: string | undefined;
  readonly callArguments: unknown;
  readonly failedArguments: unknown;
  readonly failedTool: string;
}

const usual: Told = {
  agentId: 'tester',
  sessionId: undefined,
  callId: 'call_1',
  callArguments: query,
  failedArguments: {},
  failedTool: 'broken',
};

function hashOf(args: unknown): Promise<string> | string {
  return args === undefined ? unshown : hashArguments(args);
}

describe.each(Object.entries(emitters))('%s', (name, own) => {
  const expected: Told = { ...usual, ...own };

  test("records one event per call, with the emitter's data", async () => {
    const recorder = service.recorder({ agentId: 'tester' });
    const session = recorder.session(`around-${name}`);
    const { sessionId } = expected;
    const options = { recorder, ...(sessionId && { toolName: (tool: string) => `${name}.${tool}` }) };
    const provider = new BasicTracerProvider({ spanProcessors: [actlog(options)] });
    session.run(() => replay(fixture(name), provider));
    const prefix = sessionId ? `${name}.` : '';
    const events = (await service.storedEvents(sessionId ?? session.id)).filter(({ payload }) =>
      String(payload?.toolName).startsWith(prefix),
    );
    const told = events.map(({ agentId, payload }) => ({ agentId, responseStatus: 0, ...payload }));
    // The tools of one turn run concurrently and end in any order.
    expect(told.sort((a, b) => Number(a.responseStatus) - Number(b.responseStatus))).toMatchObject([
      {
        agentId: expected.agentId,
        toolName: `${prefix}search`,
        responseStatus: 200,
        argumentsHash: await hashOf(expected.callArguments),
      },
      {
        agentId: expected.agentId,
        toolName: `${prefix}${expected.failedTool}`,
        responseStatus: 500,
        argumentsHash: await hashOf(expected.failedArguments),
      },
    ]);
  });

  test("leaves a call to the framework's own adapter", async () => {
    const sessionId = `native-${name}`;
    const recorder = service.recorder();
    const native = new AdapterCalls({ framework: 'native', sdk: '@example/native/1.0.0' }, { recorder });
    const provider = new BasicTracerProvider({ spanProcessors: [actlog({ recorder, sessionId })] });
    const call = { toolName: 'search', arguments: query, callId: 'call_1', sessionId };
    await native.run(call, () => replay(fixture(name), provider));
    expect((await service.events(sessionId)).map(({ toolName }) => toolName).sort()).toEqual(
      [expected.failedTool, 'search'].sort(),
    );
  });
});

test('counts a throwing tool once whose span is created in the background, without the id of the call', async () => {
  const sessionId = 'background';
  const recorder = service.recorder();
  const native = new AdapterCalls({ framework: 'native', sdk: '@example/native/1.0.0' }, { recorder });
  const provider = new BasicTracerProvider({ spanProcessors: [actlog({ recorder, sessionId })] });
  const tracer = provider.getTracer('@arizeai/openinference-instrumentation-langchain');
  const attributes = { 'openinference.span.kind': 'TOOL', 'tool.name': 'broken', 'input.value': '{}' };
  const inBackground = AsyncLocalStorage.snapshot();
  const startSpan = () => inBackground(() => tracer.startSpan('broken', { attributes }));
  const endSpan = (span: Span) => {
    span.setStatus({ code: SpanStatusCode.ERROR, message: 'no such order' });
    span.end();
  };
  for (const callId of ['call_1', 'call_2']) {
    let span: Span | undefined;
    const run = native.run({ toolName: 'broken', arguments: {}, callId, sessionId }, () => {
      span = startSpan();
      throw new Error('no such order');
    });
    await expect(run).rejects.toThrow('no such order');
    if (span) endSpan(span);
  }
  // Two spans for two calls; this is the third call, which no adapter has handled.
  endSpan(startSpan());
  const events = await service.events(sessionId);
  expect(events.map(({ toolName, status }) => [toolName, status])).toEqual([
    ['broken', 500],
    ['broken', 500],
    ['broken', 500],
  ]);
});
