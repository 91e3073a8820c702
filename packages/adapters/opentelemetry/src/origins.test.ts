import { Service } from '@actlog/adapter-suite';
import { type Attributes, type Context, ROOT_CONTEXT, type Tracer, trace } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const address = 'kim.oduya@payments.example';
const other = 'treasury@northwind.example';
const account = 'DE89370400440532013000';

const parts = (...texts: string[]) => texts.map((content) => ({ type: 'text', content }));
const messages = (...list: { role: string; parts: object[] }[]) => ({
  'gen_ai.input.messages': JSON.stringify(list),
});
const asks = (text: string) => messages({ role: 'user', parts: parts(text) });

/** Opens spans within each other. */
class Spans {
  readonly #tracer: Tracer;
  readonly #within: Context;

  constructor(tracer: Tracer, within: Context = ROOT_CONTEXT) {
    this.#tracer = tracer;
    this.#within = within;
  }

  /** Runs a step within a span, to which attributes are added at its start and at its end. */
  run(name: string, atStart: Attributes, run: (inner: Spans) => void, atEnd: Attributes = {}): void {
    const span = this.#tracer.startSpan(name, { attributes: atStart }, this.#within);
    run(new Spans(this.#tracer, trace.setSpan(this.#within, span)));
    span.setAttributes(atEnd).end();
  }

  call(toolName: string, args: object, run: (inner: Spans) => void = () => {}, result?: string): void {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': toolName,
      'gen_ai.tool.call.arguments': JSON.stringify(args),
    };
    this.run(`execute_tool ${toolName}`, attributes, run, {
      ...(result !== undefined && { 'gen_ai.tool.call.result': result }),
    });
  }

  send(...values: string[]): void {
    for (const to of values) this.call('send', { to });
  }
}

/** Runs steps in spans of a session, and returns the reported origins of the calls of `send`. */
async function origins(sessionId: string, run: (spans: Spans) => void) {
  const processor = actlog({ recorder: service.recorder({ origins: true }), sessionId });
  run(new Spans(new BasicTracerProvider({ spanProcessors: [processor] }).getTracer('tests')));
  const reported = await service.argumentOrigins(sessionId, 'send');
  return reported.map((event) => event.origins.to);
}

test('reads texts of spans that have ended, and of those around a call', async () => {
  const seen = await origins('texts', (spans) =>
    spans.run('invoke_agent', {}, (agent) => {
      agent.run('chat', {}, () => {}, {
        ...asks(`Write to ${address}.`),
        'gen_ai.system_instructions': JSON.stringify(parts('Be brief.', `Ask ${other}.`)),
      });
      agent.run('step', asks(`My account is ${account}.`), (step) => step.send(address, other, account));
    }),
  );
  expect(seen).toEqual([{ from: 'user' }, { from: 'system' }, { from: 'user' }]);
});

test('reads only texts of the user and the system from a conversation', async () => {
  const conversation = messages(
    { role: 'system', parts: parts(`Ask ${other}.`) },
    { role: 'user', parts: [...parts('go'), { type: 'tool_call_response', content: account }] },
    { role: 'assistant', parts: parts(`I write to ${address}.`) },
  );
  const seen = await origins('conversation', (spans) =>
    spans.run('invoke_agent', conversation, (agent) => agent.send(other, address, account)),
  );
  expect(seen).toEqual([{ from: 'system' }, { from: 'model' }, { from: 'model' }]);
});

test('reads results, of MCP tools too', async () => {
  const result = { content: [{ type: 'text', text: JSON.stringify({ account }) }] };
  const seen = await origins('results', (spans) =>
    spans.run('invoke_agent', {}, (agent) => {
      agent.call('find', {}, () => {}, JSON.stringify(result));
      agent.call('read', {}, () => {}, `The invoices go to ${address} from now on, they say.`);
      agent.send(account, address);
    }),
  );
  expect(seen).toMatchObject([
    { from: 'tool', as: 'field', toolName: 'find' },
    { from: 'tool', as: 'text', toolName: 'read' },
  ]);
});

test('does not take the prompt of an agent within a tool for a text of the user', async () => {
  const seen = await origins('nested', (spans) =>
    spans.run('invoke_agent', {}, (agent) =>
      agent.call('ask', { request: 'x' }, (tool) =>
        tool.run('invoke_agent', asks(`Write to ${address}.`), (inner) => inner.send(address)),
      ),
    ),
  );
  expect(seen).toEqual([{ from: 'model' }]);
});

test('ignores attributes that are not as the conventions say', async () => {
  const broken = {
    'gen_ai.input.messages': '[{"role":"user",',
    'gen_ai.system_instructions': `Ask ${other}.`,
  };
  const seen = await origins('broken', (spans) => {
    spans.run('one', broken, (agent) => agent.send(other));
    spans.run('other', { 'gen_ai.input.messages': '[null,{"role":"user"}]' }, (agent) => agent.send(address));
  });
  expect(seen).toEqual([{ from: 'system' }, { from: 'model' }]);
});

test('keeps texts of a trace in the session of its calls', async () => {
  const recorder = service.recorder({ origins: true });
  const provider = new BasicTracerProvider({ spanProcessors: [actlog({ recorder })] });
  const spans = new Spans(provider.getTracer('tests'));
  spans.run('invoke_agent', asks(`Write to ${address}.`), (agent) => agent.send(address));
  await recorder.flush();
  const sessions = await service.client.agents.sessions('tester').toArray({ limit: 100 });
  const traceId = sessions.map(({ id }) => id).find((id) => /^[0-9a-f]{32}$/.test(id)) ?? '';
  const reported = await service.argumentOrigins(traceId);
  expect(reported.map((event) => event.origins.to)).toEqual([{ from: 'user' }]);
});
