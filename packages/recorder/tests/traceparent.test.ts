import { expect, test } from 'vitest';
import type { Recorder } from '../src/index.ts';
import { temporaryFolder } from './journal-fixture.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const ofCall = `00-${traceId}-00f067aa0ba902b7-01`;
const ofSession = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const enforce = { guard: { mode: 'enforce', onUnavailable: 'deny' } } as const;
const allowed = { status: 200, body: { decision: 'allow', decidedBy: null, matched: [] } };
const facts = { arguments: {}, responseStatus: 200 };

/** Returns the traces of the requests by the names of tools; of checks, the names begin with `check`. */
function traces(sink: Sink): Record<string, unknown> {
  return Object.fromEntries(
    sink.requests.map(({ body, headers }) => {
      const { payload, action } = body as Record<string, { toolName: string } | undefined>;
      const name = action ? `check ${action.toolName}` : payload?.toolName;
      return [name, headers['x-actlog-traceparent'] ?? null];
    }),
  );
}

function checking(): Promise<Sink> {
  return Sink.start(({ path }) => (path === '/v1/policies/check' ? allowed : undefined));
}

function run(recorder: Pick<Recorder, 'toolCall'>, toolName: string, traceparent?: string) {
  return recorder.toolCall({ toolName, arguments: {}, traceparent }, () => 'done');
}

test('sends the trace that a call states, or that of its session, with its check and its event', async () => {
  const sink = await checking();
  const recorder = createRecorder(sink.url, enforce);
  const session = recorder.session('s-1', { traceparent: ofSession });
  await run(recorder, 'stated', ofCall);
  await run(recorder, 'none');
  await run(session, 'of_session');
  await run(session, 'stated_in_session', ofCall);
  await session.run(() => run(recorder, 'inside'));
  await session.run(() => recorder.session('s-2').run(() => run(recorder, 'deeper')));
  session.record({ ...facts, toolName: 'recorded' });
  recorder.record({ ...facts, toolName: 'stated_facts', traceparent: ofCall });
  await recorder.flush();
  expect(traces(sink)).toEqual({
    ...{ stated: ofCall, 'check stated': ofCall },
    ...{ none: null, 'check none': null },
    ...{ of_session: ofSession, 'check of_session': ofSession },
    ...{ stated_in_session: ofCall, 'check stated_in_session': ofCall },
    ...{ inside: ofSession, 'check inside': ofSession },
    ...{ deeper: ofSession, 'check deeper': ofSession },
    ...{ recorded: ofSession, stated_facts: ofCall },
  });
});

test('keeps the trace in the journal, beside the names of the framework and the adapter', async () => {
  const sink = await Sink.start(() => ({ status: 503 }));
  const options = { spoolDir: temporaryFolder(), framework: 'langchain', agentVersion: '7' };
  const first = createRecorder(sink.url, options);
  first.record({ ...facts, toolName: 'late', traceparent: ofCall });
  first.record({ ...facts, toolName: 'plain' });
  await first.close({ timeoutMs: 0 });
  sink.respond = () => undefined;
  sink.requests.length = 0;
  await createRecorder(sink.url, options).flush();
  expect(traces(sink)).toEqual({ late: ofCall, plain: null });
  for (const { headers } of sink.requests) {
    expect(headers).toMatchObject({ 'x-service-framework': 'langchain', 'x-service-agent-version': '7' });
  }
});

test('leaves out a trace that is not valid, and reports it without its value', async () => {
  const sink = await checking();
  const errors: Error[] = [];
  const recorder = createRecorder(sink.url, { ...enforce, onError: (error) => errors.push(error) });
  await run(recorder, 'bad', 'secret-value');
  await run(recorder.session('s', { traceparent: 'secret-value' }), 'in_bad_session');
  await recorder.flush();
  expect(traces(sink)).toEqual({
    ...{ bad: null, 'check bad': null },
    ...{ in_bad_session: null, 'check in_bad_session': null },
  });
  expect(errors.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^A call has a traceparent that is not one of W3C Trace Context/),
  ]);
  expect(String(errors)).not.toContain('secret-value');
});
