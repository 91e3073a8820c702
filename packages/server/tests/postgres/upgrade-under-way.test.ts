import { expect, test } from 'vitest';
import { asSuperuser, createDatabase, testSecret } from '../test-database.ts';
import { activityEvent, checkBody, type TestServer, testServer } from '../test-server.ts';

/** A column more in every table, as a newer release adds columns to some. */
const addColumns = `do $$ declare name text; begin
  for name in select relname from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
  loop execute 'alter table ' || name || ' add column later text'; end loop;
end $$`;

/** The statuses of a round of requests that come in at once, as many as the server has connections and more. */
async function statuses(server: TestServer): Promise<Set<number>> {
  const round = Array.from({ length: 8 }, () => [
    server.send('events.create', { body: activityEvent() }),
    server.send('sessions.list'),
    server.send('sessions.get', { id: 'thread-1' }),
    server.send('agents.list'),
    server.send('agents.get', { id: 'billing-agent' }),
    server.send('policies.list'),
    server.send('policies.check', { body: checkBody() }),
    server.send('notificationChannels.list'),
    server.send('guardian.pendingActions.list'),
  ]).flat();
  return new Set((await Promise.all(round)).map(({ status }) => status));
}

test('a server goes on while a newer release brings the tables up to date', async () => {
  const database = await createDatabase();
  const server = await testServer({ database, secret: testSecret });
  await server.record({});
  await server.policy({ effect: 'require_approval' });
  const wellAnswered = new Set([200, 202]);
  for (let round = 0; round < 3; round += 1) expect(await statuses(server)).toEqual(wellAnswered);
  await asSuperuser(addColumns, database);
  for (let round = 0; round < 3; round += 1) expect(await statuses(server)).toEqual(wellAnswered);
});
