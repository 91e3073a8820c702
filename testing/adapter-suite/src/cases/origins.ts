import { createHash } from 'node:crypto';
import type { ArgumentOrigin } from '@actlog/protocol';
import type { Recorder } from '@actlog/recorder';
import { expect } from 'vitest';
import { type AdapterCase, bare, type CaseContext, comparable } from '../adapter-case.ts';
import type { Scenario, ScriptedCall, SeenOrigins, SuiteTool } from '../harness.ts';
import { RecordingProxy } from '../recording-proxy.ts';

/** Places in which a value stands before the model passes it to a tool. */
const places = ['user', 'system', 'field', 'text', 'model'] as const;
type Place = (typeof places)[number];

/** A value for each place, which stands nowhere else. */
const values: Readonly<Record<Place, string>> = {
  user: 'DE89370400440532013000',
  system: 'treasury@northwind.example',
  field: 'GB29NWBK60161331926819',
  text: 'kim.oduya@payments.example',
  model: 'FR1420041010050500013M02606',
};

const userText = `Please read the minutes and then pay 250 to ${values.user} today.`;
const systemText = `You are a careful clerk. Questions about payments go to ${values.system}, nobody else.`;

/** Results of the tool `read` by its argument. */
const results: Readonly<Record<string, string>> = {
  record: JSON.stringify({ name: 'Northwind', account: values.field, open: true }),
  minutes: `The meeting began at nine. Everyone agreed that ${values.text} gets the invoices from now on, and that the office moves in spring.`,
};

const read = (text: string): ScriptedCall => ({ toolName: 'read', arguments: { text } });
const send = (text: string): ScriptedCall => ({ toolName: 'send', arguments: { text } });

const reads = [[read('record')], [read('minutes')]];

/** Cases about the origins of arguments: the recorder's option `origins`. */
export const originCases: readonly AdapterCase[] = [
  {
    name: 'argument origins: knows what the user wrote, the system prompt, fields, prose and the rest, as far as the framework shows it',
    check: (context) => checkPlaces(context, places),
  },
  {
    name: 'argument origins: the same of several calls at once when the run is streamed',
    appliesTo: ({ streams }) => streams,
    check: (context) => checkPlaces(context, places, { isStreamed: true }),
  },
  {
    name: 'argument origins: the same when installed twice, each call once',
    check: (context) => checkPlaces(context, places, { isInstalledTwice: true }),
  },
  {
    name: 'argument origins: keeps the texts and results of two sessions apart',
    check: checkSessions,
  },
  {
    name: 'argument origins: leaves the run as it is',
    async check(context) {
      const { harness, sessionId } = context;
      const run = scenario([...reads, [send(values.user)]], sessionId);
      const plain = comparable(await bare(harness, run));
      await withRecorder(context, async (recorder) => {
        expect(comparable(await harness.run({ ...run, adapter: { recorder } }))).toEqual(plain);
      });
    },
  },
  {
    name: 'argument origins: reports nothing while they are off',
    async check({ harness, service, sessionId }) {
      const recorder = service.recorder();
      const turns = [...reads, [send(values.user)]];
      await harness.run({ ...scenario(turns, sessionId), adapter: { recorder } });
      expect(await service.events(sessionId)).not.toEqual([]);
      expect(await service.argumentOrigins(sessionId)).toEqual([]);
    },
  },
];

function scenario(turns: Scenario['turns'], sessionId: string): Scenario {
  const tools: SuiteTool[] = [
    { name: 'read', run: async ({ text }) => results[text] ?? 'Nothing of that name.' },
    { name: 'send', run: async () => 'Sent.' },
  ];
  return { tools, turns, sessionId, userText, systemText };
}

/** Runs an agent that passes a value of each place to `send` after it has read everything, in one turn. */
async function checkPlaces(
  context: CaseContext,
  sent: readonly Place[],
  options: Partial<Scenario> = {},
): Promise<void> {
  const { harness, service, sessionId } = context;
  const { guards, origins: seen } = harness.abilities;
  await withRecorder(context, async (recorder, proxy) => {
    const turns = [...reads, sent.map((place) => send(values[place]))];
    const run = { ...scenario(turns, sessionId), ...options, adapter: { recorder } };
    expect((await harness.run(run)).error).toBeUndefined();
    const events = await service.storedEvents(sessionId);
    const idsOf = (name: string) =>
      events.filter(({ payload }) => payload?.toolName === name).map(({ eventId }) => String(eventId));
    const [record = '', minutes = ''] = idsOf('read');
    const expected = sent.map((place) => originOf(place, seen, { field: record, text: minutes }));
    const ofSends = await service.argumentOrigins(sessionId, 'send');
    expect(ofSends.map(({ origins }) => origins.text).sort(inOrder)).toEqual([...expected].sort(inOrder));
    expect(ofSends.map(({ eventId }) => eventId).sort()).toEqual(idsOf('send').sort());
    // A value with an address in it also says where its host came from.
    const paths = new Set(ofSends.flatMap(({ origins }) => Object.keys(origins)));
    paths.delete('text.host');
    expect([...paths]).toEqual(['text']);
    if (guards) {
      const checked = checkedActions(proxy).filter(({ toolName }) => toolName === 'send');
      const origins = checked.map((action) => action.origins?.text);
      expect(origins.sort(inOrder)).toEqual([...expected].sort(inOrder));
    }
    expectNoValues(proxy);
  });
}

async function checkSessions(context: CaseContext): Promise<void> {
  const { harness, service, sessionId } = context;
  await withRecorder(context, async (recorder) => {
    const first = scenario(reads, `${sessionId}-1`);
    await harness.run({ ...first, adapter: { recorder } });
    const second = scenario([places.map((place) => send(values[place]))], `${sessionId}-2`);
    await harness.run({ ...second, userText: 'go', systemText: undefined, adapter: { recorder } });
    const reported = await service.argumentOrigins(`${sessionId}-2`);
    expect(reported.map(({ origins }) => origins.text)).toEqual(places.map(() => ({ from: 'model' })));
  });
}

/** Runs a check with a recorder that reports origins and, where the adapter can, guards every call. */
async function withRecorder(
  { harness, service }: CaseContext,
  check: (recorder: Recorder, proxy: RecordingProxy) => Promise<void>,
): Promise<void> {
  const proxy = await RecordingProxy.start(service.url);
  const client = service.client.withOptions({ baseURL: proxy.url });
  const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
  const recorder = service.recorder({ client, origins: true, ...(harness.abilities.guards && { guard }) });
  try {
    await check(recorder, proxy);
  } finally {
    await recorder.close();
    await proxy.close();
  }
}

/** Returns the origin to be reported for the value of a place. */
function originOf(
  place: Place,
  seen: SeenOrigins,
  eventIds: Readonly<Record<'field' | 'text', string>>,
): ArgumentOrigin {
  if (place === 'field' || place === 'text') {
    const eventId = eventIds[place];
    return seen.results ? { from: 'tool', as: place, toolName: 'read', eventId } : { from: 'model' };
  }
  return { from: place === 'model' || seen[place] ? place : 'model' };
}

function inOrder(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

interface CheckedAction {
  readonly toolName: string;
  readonly origins?: Readonly<Record<string, ArgumentOrigin>>;
}

function checkedActions(proxy: RecordingProxy): CheckedAction[] {
  return proxy.requests
    .filter(({ path }) => path.startsWith('/v1/policies/check'))
    .map(({ body }) => (JSON.parse(body) as { action: CheckedAction }).action);
}

/** Asserts that no value, and no hash of one, was sent. */
function expectNoValues(proxy: RecordingProxy): void {
  const sent = proxy.requests.map(({ path, body }) => `${path}\n${body}`.toLowerCase()).join('\n');
  expect(sent).toContain('argument_origins');
  for (const value of Object.values(values)) {
    expect(sent).not.toContain(value.toLowerCase());
    for (const text of [value, JSON.stringify(value)]) {
      expect(sent).not.toContain(createHash('sha256').update(text).digest('hex'));
    }
  }
}
