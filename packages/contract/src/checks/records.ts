import { type Check, check, safeCheck } from '../check.ts';
import { type Answer, succeeded, told } from '../http/answer.ts';
import { holds } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import { requirementOfEndpoint } from '../requirements/endpoints.ts';
import type { Run } from '../run.ts';
import { expectRefusal, expectSuccess } from './expectations.ts';
import { expectListed } from './listing.ts';

const kinds = ['agents', 'policies', 'notificationChannels'] as const;
const changeable = ['agents', 'policies'] as const;

function creation(kind: (typeof kinds)[number]): Check {
  return check(requirementOfEndpoint[`${kind}.create`], 'makes one', async ({ records }) => {
    const { answer } = await records.made(kind);
    records.taken(`${kind}.create`, answer);
    expectSuccess(answer);
  });
}

function listing(kind: (typeof kinds)[number]): Check {
  return check(requirementOfEndpoint[`${kind}.list`], 'shows what was made', async (run) => {
    const made = [await run.records.made(kind, 1), await run.records.made(kind, 2)];
    const ids = made.map(({ id }) => id).filter((id) => id !== undefined);
    for (const { answer } of made) run.records.taken(`${kind}.create`, answer);
    if (ids.length < 2) skip('what was made has no identifier that can be told');
    await expectListed(run, `${kind}.list`, ids);
  });
}

function reading(kind: (typeof changeable)[number]): Check {
  return check(requirementOfEndpoint[`${kind}.get`], 'reads what was made', async ({ records, probe }) => {
    const { id } = await records.identified(kind);
    const answer = await probe.call(`${kind}.get`, { id });
    expectSuccess(answer);
    if (!holds(answer.json, id)) fail(`${told(answer)}, which does not name ${id}`);
  });
}

function change(kind: (typeof changeable)[number]): Check {
  const name = `${kind}.update` as const;
  return check(requirementOfEndpoint[name], 'changes what was made', async (run) => {
    const { id } = await run.records.identified(kind);
    const text = run.newName('changed');
    const body = run.records.body(name, { name: text });
    const answer = await run.probe.call(name, { id, body });
    run.records.taken(name, answer);
    expectSuccess(answer);
    if (!JSON.stringify(body).includes(text)) return;
    const read = await run.eventually(
      () => run.probe.call(`${kind}.get`, { id }),
      ({ text: found }) => found.includes(text),
    );
    if (!read.text.includes(text)) fail(`the change was answered with ${answer.status} and is not read back`);
  });
}

/** A policy of its own, archived. */
async function archived(run: Run): Promise<{ id: string; answer: Answer }> {
  const made = await run.records.make('policies');
  run.records.taken('policies.create', made.answer);
  if (made.id === undefined) return skip('no policy can be made and read (END-11)');
  return { id: made.id, answer: await run.probe.call('policies.archive', { id: made.id }) };
}

/** Agents, policies, checks, held actions and webhooks. */
export const recordChecks: readonly Check[] = [
  ...kinds.map(creation),
  ...kinds.map(listing),
  ...changeable.map(reading),
  ...changeable.map(change),
  check(requirementOfEndpoint['policies.archive'], 'archives a policy', async (run) => {
    expectSuccess((await archived(run)).answer);
  }),
  check('STA-01', 'an archived policy', async (run) => {
    const { id, answer } = await archived(run);
    if (!succeeded(answer)) skip(`no policy can be archived (END-15): ${told(answer)}`);
    expectSuccess(await run.probe.call('policies.get', { id }));
  }),
  check('STA-02', 'what archiving changes', async (run) => {
    const { id } = await archived(run);
    const { json } = await run.probe.call('policies.get', { id });
    const texts = Object.entries(json ?? {}).filter(([, value]) =>
      /archiv|delet|inactive/i.test(String(value)),
    );
    return texts.map(([name, value]) => `${name}: ${value}`).join(', ') || 'nothing that names it';
  }),
  check(requirementOfEndpoint['policies.check'], 'answers about an action', async (run) => {
    const answer = await run.guardian.check(run.newName('agent'));
    run.records.taken('policies.check', answer);
    expectSuccess(answer);
  }),
  safeCheck(requirementOfEndpoint['guardian.pendingActions.list'], 'is served', async ({ probe }) => {
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
  check(requirementOfEndpoint['guardian.pendingActions.decide'], 'is served', async (run) => {
    const answer = await run.guardian.decide(run.newName('nothing'));
    if (answer.status === 405 || answer.status === 501) fail(told(answer));
    expectRefusal(answer, 'there is no such action');
  }),
  check(
    requirementOfEndpoint['guardian.pendingActions.decide'],
    'decides the action that is held',
    async (run) => {
      const { id } = await run.guardian.held();
      const answer = await run.guardian.decide(id);
      run.records.taken('guardian.pendingActions.decide', answer);
      expectSuccess(answer);
    },
  ),
];
