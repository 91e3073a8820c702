import { endpoints } from '@actlog/protocol';
import { type Check, check } from '../check.ts';
import { describeResponse } from '../http/api-response.ts';
import { holds } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import { requirementOfEndpoint } from '../requirements/endpoints.ts';
import type { Run } from '../run.ts';
import { listed } from '../world/list-walk.ts';
import { isUnchanged } from '../world/unchanged.ts';
import { expectEnvelope, expectRefusal, expectSuccess } from './expectations.ts';
import { expectListed, isMarked, marksOf } from './listing.ts';

const kinds = ['agents', 'policies', 'notificationChannels'] as const;
const changeable = ['agents', 'policies'] as const;

type Kind = (typeof kinds)[number];
type ChangeableKind = (typeof changeable)[number];

function creation(kind: Kind): Check {
  return check(requirementOfEndpoint[`${kind}.create`], 'creates a record', async ({ records }) => {
    const { response } = await records.made(kind);
    records.taken(`${kind}.create`, response);
    expectSuccess(response);
  });
}

/** Creates two records that no check changes; skips if the deployment requires another body. */
async function twoRecords(run: Run, kind: Kind) {
  const made = [await run.records.made(kind, 2), await run.records.made(kind, 3)];
  for (const { response } of made) {
    run.records.taken(`${kind}.create`, response);
    if (response.status >= 400) skip(`no record can be created: ${describeResponse(response)}`);
  }
  return made;
}

function listing(kind: Kind): Check {
  return check(requirementOfEndpoint[`${kind}.list`], 'lists created records', async (run) => {
    await expectListed(run, `${kind}.list`, (await twoRecords(run, kind)).map(marksOf));
  });
}

function listedOnce(kind: Kind): Check {
  return check(requirementOfEndpoint[`${kind}.list`], 'lists a record once', async (run) => {
    const made = await twoRecords(run, kind);
    const countsOf = async () => {
      const { items } = await listed(run, `${kind}.list`);
      return made.map((record) => items.filter((item) => isMarked(item, marksOf(record))).length);
    };
    // Other clients may add items between two pages, and the specification allows that to shift pages: retry once.
    if (Math.max(...(await countsOf())) <= 1) return;
    const count = Math.max(...(await countsOf()));
    if (count > 1) fail(`a record that was created once is listed ${count} times`);
  });
}

function reading(kind: ChangeableKind): Check {
  return check(requirementOfEndpoint[`${kind}.get`], 'reads created records', async (run) => {
    const texts: string[] = [];
    for (const number of [2, 3]) {
      const { id, tried, response: created } = await run.records.made(kind, number);
      run.records.taken(`${kind}.create`, created);
      if (id === undefined && tried > 0)
        fail(`none of ${tried} values in ${describeResponse(created)} reads the record`);
      if (id === undefined) return skip('the creation returned no value that could be an identifier');
      const response = await run.probe.call(`${kind}.get`, { id });
      expectSuccess(response);
      if (!holds(response.json, id)) fail(`${describeResponse(response)}, which does not name ${id}`);
      texts.push(response.text);
    }
    if (texts[0] === texts[1]) fail('two records return the same content');
  });
}

function change(kind: ChangeableKind): Check {
  const name = `${kind}.update` as const;
  return check(requirementOfEndpoint[name], 'changes a record', async (run) => {
    const { id } = await run.records.identified(kind);
    const other = await run.records.identified(kind, 2);
    const before = await run.probe.call(`${kind}.get`, { id: other.id });
    const text = run.newName('changed');
    const body = run.records.body(name, { name: text });
    const response = await run.probe.call(name, { id, body });
    run.records.taken(name, response);
    expectSuccess(response);
    const after = await run.probe.call(`${kind}.get`, { id: other.id });
    if (!isUnchanged(before.json, after.json)) fail('another record changed, too');
    if (!JSON.stringify(body).includes(text))
      skip('the body has no {name}, so that it cannot be found in the record');
    const read = await run.eventually(
      () => run.probe.call(`${kind}.get`, { id }),
      ({ text: found }) => found.includes(text),
    );
    expectSuccess(read);
    if (!read.text.includes(text))
      fail(`the change returned ${response.status} but is not visible when read`);
  });
}

/** Checks that a list shows a changed record as it is read. A list may show less of it. */
function changeListed(kind: ChangeableKind): Check {
  const name = `${kind}.update` as const;
  return check(requirementOfEndpoint[name], 'lists a record as it was changed', async (run) => {
    const { id } = await run.records.identified(kind, 4);
    const [first, second] = [run.newName('first'), run.newName('second')];
    for (const text of [first, second]) {
      const response = await run.probe.call(name, { id, body: run.records.body(name, { name: text }) });
      run.records.taken(name, response);
      expectSuccess(response);
    }
    const itemText = async () => {
      const { items } = await listed(run, `${kind}.list`);
      return JSON.stringify(items.find((item) => holds(item, id)) ?? '');
    };
    const text = await run.eventually(itemText, (found) => !found.includes(first));
    if (text.includes(first)) fail('the list shows the value before the last change');
  });
}

const malformed = [
  'agents.create',
  'policies.create',
  'policies.check',
  'notificationChannels.create',
] as const;

/** Checks of agents, policies and webhooks. */
export const recordChecks: readonly Check[] = [
  ...kinds.map(creation),
  ...kinds.map(listing),
  ...kinds.map(listedOnce),
  ...changeable.map(reading),
  ...changeable.map(change),
  ...changeable.map(changeListed),
  ...malformed.map((name, index) =>
    check('END-24', `POST ${endpoints[name].path}`, async (run) => {
      const response = (await run.provocations.malformed())[index];
      if (response === undefined) return skip('no response');
      if (response.status === 403) skip(`the key may not do this: ${describeResponse(response)}`);
      expectRefusal(response, 'the body is not JSON');
      expectEnvelope(response);
    }),
  ),
];
