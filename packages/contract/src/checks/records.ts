import { type Check, check, safeCheck } from '../check.ts';
import { type ApiResponse, describeResponse, succeeded } from '../http/api-response.ts';
import { holds } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import { requirementOfEndpoint } from '../requirements/endpoints.ts';
import type { Run } from '../run.ts';
import { expectRefusal, expectSuccess } from './expectations.ts';
import { expectListed } from './listing.ts';

const kinds = ['agents', 'policies', 'notificationChannels'] as const;
const changeable = ['agents', 'policies'] as const;

function creation(kind: (typeof kinds)[number]): Check {
  return check(requirementOfEndpoint[`${kind}.create`], 'creates a record', async ({ records }) => {
    const { response } = await records.made(kind);
    records.taken(`${kind}.create`, response);
    expectSuccess(response);
  });
}

function listing(kind: (typeof kinds)[number]): Check {
  return check(requirementOfEndpoint[`${kind}.list`], 'lists created records', async (run) => {
    const made = [await run.records.made(kind, 1), await run.records.made(kind, 2)];
    const ids = made.map(({ id }) => id).filter((id) => id !== undefined);
    for (const { response } of made) run.records.taken(`${kind}.create`, response);
    if (ids.length < 2) skip('the created records have no known identifier');
    await expectListed(run, `${kind}.list`, ids);
  });
}

function reading(kind: (typeof changeable)[number]): Check {
  return check(requirementOfEndpoint[`${kind}.get`], 'reads created records', async ({ records, probe }) => {
    const { id } = await records.identified(kind);
    const response = await probe.call(`${kind}.get`, { id });
    expectSuccess(response);
    if (!holds(response.json, id)) fail(`${describeResponse(response)}, which does not name ${id}`);
  });
}

function change(kind: (typeof changeable)[number]): Check {
  const name = `${kind}.update` as const;
  return check(requirementOfEndpoint[name], 'changes created records', async (run) => {
    const { id } = await run.records.identified(kind);
    const text = run.newName('changed');
    const body = run.records.body(name, { name: text });
    const response = await run.probe.call(name, { id, body });
    run.records.taken(name, response);
    expectSuccess(response);
    if (!JSON.stringify(body).includes(text)) return;
    const read = await run.eventually(
      () => run.probe.call(`${kind}.get`, { id }),
      ({ text: found }) => found.includes(text),
    );
    if (!read.text.includes(text))
      fail(`the change returned ${response.status} but is not visible when read`);
  });
}

/** Creates a policy and archives it. */
async function archived(run: Run): Promise<{ id: string; response: ApiResponse }> {
  const made = await run.records.make('policies');
  run.records.taken('policies.create', made.response);
  if (made.id === undefined) return skip('no policy can be created and read (END-11)');
  return { id: made.id, response: await run.probe.call('policies.archive', { id: made.id }) };
}

/** Checks of agents, policies, policy checks, held actions and webhooks. */
export const recordChecks: readonly Check[] = [
  ...kinds.map(creation),
  ...kinds.map(listing),
  ...changeable.map(reading),
  ...changeable.map(change),
  check(requirementOfEndpoint['policies.archive'], 'archives a policy', async (run) => {
    expectSuccess((await archived(run)).response);
  }),
  check('STA-01', 'an archived policy', async (run) => {
    const { id, response } = await archived(run);
    if (!succeeded(response)) skip(`no policy can be archived (END-15): ${describeResponse(response)}`);
    expectSuccess(await run.probe.call('policies.get', { id }));
  }),
  check('STA-02', 'effect of archiving', async (run) => {
    const { id } = await archived(run);
    const { json } = await run.probe.call('policies.get', { id });
    const texts = Object.entries(json ?? {}).filter(([, value]) =>
      /archiv|delet|inactive/i.test(String(value)),
    );
    return texts.map(([name, value]) => `${name}: ${value}`).join(', ') || 'nothing that names it';
  }),
  check(requirementOfEndpoint['policies.check'], 'checks an action', async (run) => {
    const response = await run.guardian.check(run.newName('agent'));
    run.records.taken('policies.check', response);
    expectSuccess(response);
  }),
  safeCheck(requirementOfEndpoint['guardian.pendingActions.list'], 'is available', async ({ probe }) => {
    expectSuccess(await probe.call('guardian.pendingActions.list'));
  }),
  check(
    requirementOfEndpoint['guardian.pendingActions.list'],
    'shows the action that is held',
    async (run) => {
      const { agentId } = await run.guardian.held();
      await expectListed(run, 'guardian.pendingActions.list', [agentId]);
    },
  ),
  check(requirementOfEndpoint['guardian.pendingActions.decide'], 'is available', async (run) => {
    const response = await run.guardian.decide(run.newName('nothing'));
    if (response.status === 405 || response.status === 501) fail(describeResponse(response));
    expectRefusal(response, 'the action does not exist');
  }),
  check(
    requirementOfEndpoint['guardian.pendingActions.decide'],
    'decides the action that is held',
    async (run) => {
      const { id } = await run.guardian.held();
      const response = await run.guardian.decide(id);
      run.records.taken('guardian.pendingActions.decide', response);
      expectSuccess(response);
    },
  ),
];
