import { AsyncLocalStorage } from 'node:async_hooks';
import { Service } from '@actlog/adapter-suite';
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterEach(() => context.disable());
afterAll(() => service.close());

/** The part of OpenTelemetry's manager for Node.js that spans need. */
class AsyncContext implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active = () => this.#storage.getStore() ?? ROOT_CONTEXT;
  with: ContextManager['with'] = (given, run, self, ...args) =>
    this.#storage.run(given, () => run.apply(self as never, args));
  bind: ContextManager['bind'] = (_context, target) => target;
  enable = () => this;
  disable = () => this;
}

const tracer = new BasicTracerProvider().getTracer('host');

/** Returns the traces of a session's calls, by tool. */
async function traces(sessionId: string): Promise<Record<string, unknown>> {
  const events = await service.storedEvents(sessionId);
  return Object.fromEntries(
    events.map(({ payload, traceparent }) => [payload?.toolName, traceparent ?? null]),
  );
}

test('finds the active span of the host, also after an await and inside another call', async () => {
  context.setGlobalContextManager(new AsyncContext());
  const recorder = service.recorder();
  const session = recorder.session('active', {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  });
  const [outer, inner] = [tracer.startSpan('outer'), tracer.startSpan('inner')];
  const call = (toolName: string, run: () => unknown = () => 'done') =>
    session.toolCall({ toolName, arguments: {} }, run);
  await context.with(trace.setSpan(ROOT_CONTEXT, outer), async () => {
    await Promise.resolve();
    await call('outer', () => context.with(trace.setSpan(ROOT_CONTEXT, inner), () => call('inner')));
  });
  await call('outside');
  await recorder.flush();
  const of = (span: typeof outer) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`;
  expect(await traces('active')).toEqual({
    outer: of(outer),
    inner: of(inner),
    outside: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  });
});

test('runs calls without OpenTelemetry, and with a context manager that throws', async () => {
  const recorder = service.recorder();
  const call = (toolName: string) =>
    recorder.session('without').toolCall({ toolName, arguments: {} }, () => 'done');
  await call('unregistered');
  const broken = new AsyncContext();
  broken.active = () => {
    throw new Error('broken');
  };
  context.setGlobalContextManager(broken);
  await call('broken');
  await recorder.flush();
  expect(await traces('without')).toEqual({ unregistered: null, broken: null });
});

test('records the span of a call as its trace', async () => {
  const provider = new BasicTracerProvider({
    spanProcessors: [actlog({ recorder: service.recorder(), sessionId: 'processed' })],
  });
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
  const span = provider.getTracer('agent').startSpan('execute_tool search', { attributes });
  span.end();
  const { traceId, spanId } = span.spanContext();
  expect(await traces('processed')).toEqual({ search: `00-${traceId}-${spanId}-01` });
});
