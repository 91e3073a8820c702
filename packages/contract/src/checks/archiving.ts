import { type Check, check } from '../check.ts';
import { type ApiResponse, describeResponse, holds, isObject, succeeded } from '../http/api-response.ts';
import { fail, skip } from '../outcome.ts';
import { requirementOfEndpoint } from '../requirements/endpoints.ts';
import type { Run } from '../run.ts';
import { isUnchanged } from '../world/event-record.ts';
import { listed } from '../world/list-walk.ts';
import { expectSuccess } from './expectations.ts';

/** A policy as an endpoint and the list return it. */
interface Shown {
  readonly read: ApiResponse;
  /** Item of the list; undefined if it is not there. */
  readonly item: unknown;
}

async function shown(run: Run, id: string): Promise<Shown> {
  const read = await run.probe.call('policies.get', { id });
  const { items } = await listed(run, 'policies.list', {
    until: (all) => all.some((item) => holds(item, id)),
  });
  return { read, item: items.find((item) => holds(item, id)) };
}

/** `true` if a policy is read and listed as it was before. */
function isSame(before: Shown, after: Shown): boolean {
  return (
    succeeded(after.read) &&
    isUnchanged(before.read.json, after.read.json) &&
    isUnchanged(before.item, after.item)
  );
}

/** Creates a policy and archives it. */
async function archived(run: Run): Promise<{ id: string; response: ApiResponse }> {
  const made = await run.records.make('policies');
  run.records.taken('policies.create', made.response);
  if (made.id === undefined) return skip('no policy can be created and read (END-11)');
  return { id: made.id, response: await run.probe.call('policies.archive', { id: made.id }) };
}

/** Checks of archiving policies. */
export const archivingChecks: readonly Check[] = [
  // The first check that archives, because later ones could not detect this.
  check(requirementOfEndpoint['policies.archive'], 'archives no other policy', async (run) => {
    const other = await run.records.identified('policies', 3);
    const before = await run.probe.call('policies.get', { id: other.id });
    const { response } = await archived(run);
    if (!succeeded(response)) skip(`no policy can be archived: ${describeResponse(response)}`);
    const after = await run.probe.call('policies.get', { id: other.id });
    if (!succeeded(after) || !isUnchanged(before.json, after.json))
      fail('another policy changed when one was archived');
  }),
  check(requirementOfEndpoint['policies.archive'], 'archives a policy', async (run) => {
    expectSuccess((await archived(run)).response);
  }),
  check(requirementOfEndpoint['policies.archive'], 'shows that a policy is archived', async (run) => {
    const { id, response: created } = await run.records.make('policies');
    run.records.taken('policies.create', created);
    if (id === undefined) return skip('no policy can be created and read (END-11)');
    const before = await run.eventually(
      () => shown(run, id),
      ({ item }) => item !== undefined,
    );
    if (before.item === undefined) skip('the policy is not listed (END-12)');
    const response = await run.probe.call('policies.archive', { id });
    if (!succeeded(response)) skip(`no policy can be archived: ${describeResponse(response)}`);
    const after = await run.eventually(
      () => shown(run, id),
      (seen) => !isSame(before, seen),
    );
    if (isSame(before, after))
      fail(`DELETE returned ${response.status}, but the policy is read and listed as it was before`);
  }),
  check('STA-01', 'an archived policy', async (run) => {
    const { id, response } = await archived(run);
    if (!succeeded(response)) skip(`no policy can be archived (END-15): ${describeResponse(response)}`);
    expectSuccess(await run.probe.call('policies.get', { id }));
  }),
  check('STA-02', 'effect of archiving', async (run) => {
    const { id } = await archived(run);
    const { json } = await run.probe.call('policies.get', { id });
    const texts = Object.entries(isObject(json) ? json : {}).filter(([, value]) =>
      /archiv|delet|inactive/i.test(String(value)),
    );
    return texts.map(([name, value]) => `${name}: ${value}`).join(', ') || 'nothing that names it';
  }),
];
