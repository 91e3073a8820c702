import { endpoints, limits } from '@actlog/protocol';
import { type Check, check, safeCheck } from '../../check.ts';
import { fail } from '../../outcome.ts';
import type { Run } from '../../run.ts';
import { expectCode } from '../expectations.ts';
import { expectEqual, sent } from './reference.ts';

const lists = [
  'sessions.list',
  'agents.list',
  'policies.list',
  'guardian.pendingActions.list',
  'notificationChannels.list',
] as const;

/** Sends an event of a new session of an agent; returns the session's id. */
async function newSession(run: Run, agentId: string): Promise<string> {
  const sessionId = run.newName('listed');
  const sourceTimestamp = new Date(Date.now() - 1000).toISOString();
  await sent(run, 'events.create', { body: run.traffic.event({ agentId, sessionId, sourceTimestamp }) });
  return sessionId;
}

/** Checks of lists. */
export const referenceListChecks: readonly Check[] = [
  ...lists.map((name) =>
    safeCheck('PRF-10', `GET ${endpoints[name].path}`, async ({ probe }) => {
      for (const limit of [0, -1, limits.maxPageSize + 1, 1.5, 'ten']) {
        expectCode(await probe.call(name, { query: { limit } }), 'VALIDATION_ERROR');
      }
    }),
  ),
  check('PRF-11', 'newest first, even while sessions are added', async (run) => {
    const agentId = run.newName('ordered');
    const older = [
      await newSession(run, agentId),
      await newSession(run, agentId),
      await newSession(run, agentId),
    ];
    const first = await sent(run, 'agents.sessions', { id: agentId, query: { limit: 2 } });
    await newSession(run, agentId);
    const cursor = first.nextCursor ?? fail('three sessions fit on a page of two');
    const second = await sent(run, 'agents.sessions', { id: agentId, query: { limit: 2, cursor } });
    expectEqual(
      [...first.items, ...second.items].map(({ id }) => id),
      older.reverse(),
      'the order of sessions',
    );
  }),
  check('PRF-12', 'an altered cursor and a cursor of another list', async (run) => {
    const { main, other } = await run.traffic.settled();
    const { nextCursor } = await sent(run, 'agents.sessions', { id: main.agentId, query: { limit: 1 } });
    const cursor = nextCursor ?? fail('five sessions fit on a page of one');
    const altered = (cursor.startsWith('A') ? 'B' : 'A') + cursor.slice(1);
    const refused = [
      await run.probe.call('agents.sessions', { id: main.agentId, query: { limit: 1, cursor: altered } }),
      await run.probe.call('agents.sessions', { id: other.agentId, query: { limit: 1, cursor } }),
      await run.probe.call('sessions.list', { query: { limit: 1, cursor } }),
    ];
    for (const response of refused) expectCode(response, 'VALIDATION_ERROR');
  }),
  check('PRF-13', 'sessions of an agent', async (run) => {
    const { main, ofAgent } = await run.traffic.settled();
    const { items } = await sent(run, 'sessions.list', { query: { agentId: main.agentId } });
    expectEqual(
      items.map(({ id }) => id).sort(),
      ofAgent.map(({ id }) => id).sort(),
      'the sessions of the agent',
    );
    const query = { agentId: main.agentId, startedAfter: '2100-01-01T00:00:00Z' };
    expectEqual((await sent(run, 'sessions.list', { query })).items, [], 'the sessions that start in 2100');
  }),
  check('PRF-13', 'sessions by tool, id and level, and by risk', async (run) => {
    const { main } = await run.traffic.settled();
    const listed = async (query: Readonly<Record<string, string>>) => {
      const { items } = await sent(run, 'sessions.list', { query: { agentId: main.agentId, ...query } });
      return items;
    };
    const all = await listed({});
    const first = all[0] ?? fail('the agent has no session');
    const toolName = first.toolNames[0] ?? fail('no session of the agent has a tool');
    expectEqual(
      (await listed({ toolName })).map(({ id }) => id),
      all.filter(({ toolNames }) => toolNames.includes(toolName)).map(({ id }) => id),
      'the sessions with a tool',
    );
    expectEqual(await listed({ toolName: run.newName('no-tool') }), [], 'the sessions with an unknown tool');
    const idContains = first.id.slice(1).toUpperCase();
    expectEqual(
      (await listed({ idContains })).map(({ id }) => id),
      all.filter(({ id }) => id.toUpperCase().includes(idContains)).map(({ id }) => id),
      'the sessions whose id contains a text',
    );
    for (const level of ['low', 'medium', 'high', 'critical']) {
      const others = (await listed({ level })).filter(({ risk }) => risk?.level !== level);
      expectEqual(others, [], `the sessions of another level with level=${level}`);
    }
    const scores = (await listed({ sort: 'riskScore' })).map(({ risk }) => risk?.score ?? -1);
    expectEqual(
      scores,
      scores.toSorted((left, right) => right - left),
      'the scores with sort=riskScore',
    );
    expectEqual(scores.length, all.length, 'the number of sessions with sort=riskScore');
    for (const query of [{ sort: 'size' }, { level: 'severe' }, { status: 'odd' }]) {
      expectCode(await run.probe.call('sessions.list', { query }), 'VALIDATION_ERROR');
    }
  }),
  check('PRF-13', 'agents and policies by status', async (run) => {
    await run.records.identified('policies');
    const { items: agents } = await sent(run, 'agents.list', { query: { registered: 'true', limit: 20 } });
    if (agents.some(({ registered }) => !registered))
      fail('registered=true lists an agent that is not registered');
    const { items: policies } = await sent(run, 'policies.list', { query: { status: 'active', limit: 20 } });
    if (policies.some(({ status }) => status !== 'active')) fail('status=active lists an archived policy');
  }),
];
