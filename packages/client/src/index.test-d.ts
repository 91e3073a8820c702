import type {
  Agent,
  EventAck,
  ResponseOf,
  RiskLevel,
  Session,
  StoredEvent,
  WebhookEvent,
} from '@actlog/protocol';
import { assertType, describe, expectTypeOf, it } from 'vitest';
import {
  Actlog,
  ActlogError,
  type KnownEvent,
  type NotificationChannelCreate,
  type Page,
  type PolicyCheck,
  type PolicyCreate,
  type PolicyUpdate,
  type WithResponse,
} from './index.ts';
import { idOf, isKnownEvent, isToolCall } from './records.ts';
import { mapConcurrent } from './scripts.ts';

const client = new Actlog();

describe('results', () => {
  it('are typed by the endpoint table', async () => {
    const event = { agentId: 'a', sessionId: 's', category: 'note', payload: {} };
    expectTypeOf(await client.events.create(event)).toEqualTypeOf<EventAck>();
    expectTypeOf(await client.agents.get('a')).toEqualTypeOf<Agent>();
    expectTypeOf((await client.sessions.risk('s')).level).toEqualTypeOf<RiskLevel | undefined>();
    expectTypeOf(await client.agents.get('a').withResponse()).toEqualTypeOf<WithResponse<Agent>>();
    expectTypeOf(await client.agents.get('a').asResponse()).toEqualTypeOf<Response>();
    expectTypeOf(
      (await client.policies.check({ agentId: 'a', action: { toolName: 't', argumentsHash: 'h' } })).decision,
    ).toEqualTypeOf<'allow' | 'deny' | 'require_approval' | undefined>();
  });

  it('keep unknown fields, typed as unknown', async () => {
    const agent = await client.agents.get('a');
    expectTypeOf(agent.somethingNew).toEqualTypeOf<unknown>();
    expectTypeOf(await client.request('GET', '/v1/new')).toEqualTypeOf<unknown>();
    expectTypeOf(await client.request<{ id: string }>('GET', '/v1/new')).toEqualTypeOf<{ id: string }>();
  });

  it('have the types of the endpoint table', async () => {
    const { sessions, agents, policies, guardian, notificationChannels } = client;
    const action = { toolName: 't', argumentsHash: 'h' };
    assertType<ResponseOf<'sessions.get'>>(await sessions.get('s'));
    assertType<ResponseOf<'sessions.risk'>>(await sessions.risk('s'));
    assertType<ResponseOf<'sessions.export'>>(await sessions.export('s'));
    assertType<ResponseOf<'agents.create'>>(await agents.create({ name: 'n' }));
    assertType<ResponseOf<'agents.get'>>(await agents.get('a'));
    assertType<ResponseOf<'agents.update'>>(await agents.update('a', {}));
    assertType<ResponseOf<'policies.create'>>(await policies.create({ name: 'n', effect: 'deny' }));
    assertType<ResponseOf<'policies.get'>>(await policies.get('p'));
    assertType<ResponseOf<'policies.update'>>(await policies.update('p', {}));
    assertType<ResponseOf<'policies.archive'>>(await policies.archive('p'));
    assertType<ResponseOf<'policies.check'>>(await policies.check({ agentId: 'a', action }));
    assertType<ResponseOf<'guardian.pendingActions.decide'>>(
      await guardian.pendingActions.decide('p', { decision: 'deny' }),
    );
    assertType<ResponseOf<'notificationChannels.create'>>(await notificationChannels.create({ url: 'u' }));
  });

  it('can be given the types of another service', async () => {
    type ForeignAgent = { readonly number: number };
    expectTypeOf(await client.agents.get(7).as<ForeignAgent>()).toEqualTypeOf<ForeignAgent>();
    expectTypeOf(
      (await client.agents.get(7).as<ForeignAgent>().withResponse()).data,
    ).toEqualTypeOf<ForeignAgent>();
    for await (const agent of client.agents.list({}, { itemsKey: 'rows' }).as<ForeignAgent>())
      expectTypeOf(agent).toEqualTypeOf<ForeignAgent>();
    // @ts-expect-error the type of a result is not inferred from where it is used
    assertType<ForeignAgent>(await client.agents.get(7));
    expectTypeOf(idOf(await client.agents.get(7))).toEqualTypeOf<string>();
  });

  it('are promises', () => {
    assertType<Promise<Agent>>(client.agents.get('a'));
    assertType<Promise<Page<Session>>>(client.sessions.list());
  });
});

describe('lists', () => {
  it('have typed items and pages', async () => {
    for await (const session of client.sessions.list({ limit: 5 }))
      expectTypeOf(session).toEqualTypeOf<Session>();
    for await (const page of client.sessions.list().pages())
      expectTypeOf(page).toEqualTypeOf<Page<Session>>();
    for await (const session of await client.sessions.list()) expectTypeOf(session).toEqualTypeOf<Session>();
    for await (const event of client.sessions.events('s')) expectTypeOf(event).toEqualTypeOf<StoredEvent>();
    const ids = client.sessions
      .list()
      .map((session) => session.id)
      .filter((id) => id !== '');
    expectTypeOf(await ids.toArray({ limit: 3 })).toEqualTypeOf<string[]>();
    const scored = client.sessions
      .list()
      .filter((session): session is Session & { eventCount: number } => true);
    expectTypeOf((await scored.take(1).toArray())[0]?.eventCount).toEqualTypeOf<number | undefined>();
  });
});

describe('events', () => {
  it('have the payload of their category once it is checked', async () => {
    for await (const event of client.sessions.events('s')) {
      expectTypeOf(event.payload?.toolName).toEqualTypeOf<unknown>();
      if (isToolCall(event)) {
        expectTypeOf(event.payload.toolName).toEqualTypeOf<string>();
        expectTypeOf(event.payload.responseStatus).toEqualTypeOf<number>();
        expectTypeOf(event.sourceTimestamp).toEqualTypeOf<string | undefined>();
      }
      if (isKnownEvent(event)) {
        switch (event.category) {
          case 'tool_api':
            expectTypeOf(event.payload.toolName).toEqualTypeOf<string>();
            break;
          case 'llm_call':
            expectTypeOf(event.payload.model).toEqualTypeOf<string>();
            break;
          default:
            expectTypeOf(event.category).toEqualTypeOf<
              'agent_message' | 'memory_write' | 'subagent_call' | 'argument_origins' | 'guardian_decision'
            >();
        }
      }
    }
    for await (const event of client.sessions.events('s').as<KnownEvent>())
      if (event.category === 'tool_api') expectTypeOf(event.payload.toolName).toEqualTypeOf<string>();
    const calls = (await client.sessions.events('s').toArray()).filter(isToolCall);
    expectTypeOf(calls[0]?.payload.toolName).toEqualTypeOf<string | undefined>();
    for (const event of (await client.sessions.get('s')).events ?? [])
      if (isToolCall(event)) expectTypeOf(event.payload.toolName).toEqualTypeOf<string>();
  });
});

describe('errors', () => {
  it('have known codes and others', () => {
    const { code } = new ActlogError('', 'NOT_FOUND');
    expectTypeOf(code).toExtend<string>();
    assertType<typeof code>('TIMEOUT');
    assertType<typeof code>('HTTP_418');
    assertType<typeof code>('another-code');
    expectTypeOf<Extract<typeof code, 'RATE_LIMITED'>>().toEqualTypeOf<'RATE_LIMITED'>();
  });
});

describe('scripts', () => {
  it('have typed results', async () => {
    const risks = mapConcurrent(client.sessions.list(), ({ id }, { signal }) =>
      client.sessions.risk(id, { signal }),
    );
    for await (const { score } of risks) expectTypeOf(score).toEqualTypeOf<number | undefined>();
    for await (const length of mapConcurrent(['a'], (text) => text.length))
      expectTypeOf(length).toEqualTypeOf<number>();
    for await (const action of client.guardian.pendingActions.watch({ agentId: 'a' }))
      expectTypeOf(action.id).toEqualTypeOf<string>();
  });
});

describe('arguments', () => {
  it('are checked', () => {
    // @ts-expect-error agentId is missing
    client.events.create({ sessionId: 's', category: 'note', payload: {} });
    const call = { toolName: 't', argumentsHash: 'h', responseStatus: 200 };
    client.events.create({ agentId: 'a', sessionId: 's', category: 'tool_api', payload: call });
    client.events.create({
      agentId: 'a',
      sessionId: 's',
      category: 'tool_api',
      // @ts-expect-error a tool call has the hash of its arguments, and never the arguments
      payload: { toolName: 't', argumentsHash: 'h', responseStatus: 200, arguments: {} },
    });
    // @ts-expect-error a typo in a policy must not pass
    client.policies.create({ name: 'n', effect: 'deny', conditon: 'x' });
    // @ts-expect-error not an effect
    client.policies.create({ name: 'n', effect: 'forbid' });
    // @ts-expect-error not a filter of sessions
    client.sessions.list({ agent: 'a' });
    client.sessions.list({ startedAfter: new Date(), startedBefore: '2026-01-05T00:00:00Z' });
    client.agents.sessions('a', { startedAfter: new Date() });
    // @ts-expect-error a number could be seconds or milliseconds
    client.sessions.list({ startedAfter: 5 });
    client.agents.get(5);
    // @ts-expect-error an id is a string or a number
    client.agents.get(5n);
    // @ts-expect-error not a decision
    client.guardian.pendingActions.decide('p', { decision: 'approved' });
    // @ts-expect-error not an option
    client.agents.get('a', { timeout: 5 });
  });

  it('may be constants and have named types', () => {
    const noDelete = { name: 'n', effect: 'deny', match: { tools: ['delete_*'] } } as const;
    expectTypeOf(noDelete).toExtend<PolicyCreate>();
    const action = { toolName: 't', argumentsHash: 'h', arguments: { path: ['a'] } } as const;
    expectTypeOf({ agentId: 'a', action } as const).toExtend<PolicyCheck>();
    expectTypeOf({
      events: ['session.risk_raised'],
      url: 'https://a',
    } as const).toExtend<NotificationChannelCreate>();
    client.policies.create(noDelete);
    client.policies.update('p', { match: noDelete.match } satisfies PolicyUpdate);
  });

  it('unknown to this package can be passed', () => {
    client.sessions.list({}, { extraQuery: { newFilter: true } });
    client.policies.create({ name: 'n', effect: 'deny' }, { extraBody: { newField: [1] } });
    client.events.create({
      agentId: 'a',
      sessionId: 's',
      category: 'c',
      payload: {},
      sourceTimestamp: new Date(),
    });
  });
});

describe('webhooks', () => {
  it('are discriminated by type', async () => {
    const event = await client.webhooks.unwrap('', new Headers(), 'whsec_x');
    expectTypeOf(event).toEqualTypeOf<WebhookEvent>();
    if (event.type === 'session.risk_raised') expectTypeOf(event.data.level).toEqualTypeOf<RiskLevel>();
  });
});
