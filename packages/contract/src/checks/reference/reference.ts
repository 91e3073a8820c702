import { type BodyOf, type EndpointName, endpoints, type SentOf } from '@actlog/protocol';
import { isObject, succeeded, told } from '../../http/answer.ts';
import type { Sent } from '../../http/probe.ts';
import { fail, skip } from '../../outcome.ts';
import type { Run } from '../../run.ts';

/** The answer of a call that has to succeed, as the reference profile types it; PRF-01 looks at its shape. */
export async function sent<Name extends EndpointName>(
  run: Run,
  name: Name,
  request: Sent = {},
): Promise<SentOf<Name>> {
  const answer = await run.probe.call(name, request);
  if (!succeeded(answer) || answer.json === undefined) fail(`${told(answer)}; success is expected`);
  return answer.json as SentOf<Name>;
}

/** Fails unless two values are equal as JSON. */
export function expectEqual(found: unknown, expected: unknown, what: string): void {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)];
  if (left !== right) fail(`${what} is ${left}; ${right} is expected`);
}

/** Makes a policy about one agent, which is archived at the end. */
export async function policyFor(
  run: Run,
  agentId: string,
  fields: Partial<BodyOf<'policies.create'>> = {},
): Promise<SentOf<'policies.create'>> {
  const { answer } = await run.records.make('policies', {
    name: run.newName('policy'),
    effect: 'deny',
    match: { agents: [agentId] },
    ...fields,
  });
  if (answer.status !== endpoints['policies.create'].success) fail(told(answer));
  return answer.json as SentOf<'policies.create'>;
}

/** What a check says of itself: the agent always, the rest where it matters. */
type CheckFields = Partial<BodyOf<'policies.check'>> & { readonly agentId: string };

/** The body of a check of an action of an agent. */
export function checkBody(fields: CheckFields): BodyOf<'policies.check'> {
  const action = { toolName: 'contract_probe', argumentsHash: 'sha256:aa' };
  return { sessionId: `${fields.agentId}-session`, action, ...fields };
}

/** Checks an action of an agent; skips where others have a say in it. */
export async function checked(run: Run, fields: CheckFields): Promise<SentOf<'policies.check'>> {
  const answer = await sent(run, 'policies.check', { body: checkBody(fields) });
  skipForeign(run, answer.matched);
  return answer;
}

/** Skips the check where a policy that the run has not made decides about its agents too. */
export function skipForeign(run: Run, matched: unknown): void {
  const all: readonly unknown[] = Array.isArray(matched) ? matched : [];
  const deciding = all.filter((one) => isObject(one) && one.mode === 'enforce');
  const foreign = deciding.find((one) => isObject(one) && !run.records.hasPolicy(one.policyId));
  if (isObject(foreign)) {
    skip(
      `the tenant's policy ${foreign.policyId} decides about the agents of the run: give it a tenant of its own`,
    );
  }
}
