import { type BodyOf, type EndpointName, endpoints, type SentOf } from '@actlog/protocol';
import { describeResponse, isObject, succeeded } from '../../http/api-response.ts';
import type { Sent } from '../../http/probe.ts';
import { fail, skip } from '../../outcome.ts';
import type { Run } from '../../run.ts';

/** Returns the body of a successful response with the reference profile's type; PRF-01 checks its shape. */
export async function sent<Name extends EndpointName>(
  run: Run,
  name: Name,
  request: Sent = {},
): Promise<SentOf<Name>> {
  const response = await run.probe.call(name, request);
  if (!succeeded(response) || response.json === undefined)
    fail(`${describeResponse(response)}; expected success`);
  return response.json as SentOf<Name>;
}

/** Fails unless two values are equal as JSON. */
export function expectEqual(found: unknown, expected: unknown, what: string): void {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)];
  if (left !== right) fail(`${what} is ${left}; expected ${right}`);
}

/** Creates a policy for one agent; it is archived at the end. */
export async function policyFor(
  run: Run,
  agentId: string,
  fields: Partial<BodyOf<'policies.create'>> = {},
): Promise<SentOf<'policies.create'>> {
  const { response } = await run.records.make('policies', (name) => ({
    name,
    effect: 'deny',
    match: { agents: [agentId] },
    ...fields,
  }));
  if (response.status !== endpoints['policies.create'].success) fail(describeResponse(response));
  return response.json as SentOf<'policies.create'>;
}

/** Fields of a check: the agent is required, the others have defaults. */
type CheckFields = Partial<BodyOf<'policies.check'>> & { readonly agentId: string };

/** Returns the body of a check for an agent's action. */
export function checkBody(fields: CheckFields): BodyOf<'policies.check'> {
  const action = { toolName: 'contract_probe', argumentsHash: 'sha256:aa' };
  return { sessionId: `${fields.agentId}-session`, action, ...fields };
}

/** Checks an agent's action; skips if other policies affect the result. */
export async function checked(run: Run, fields: CheckFields): Promise<SentOf<'policies.check'>> {
  const response = await sent(run, 'policies.check', { body: checkBody(fields) });
  skipForeign(run, response.matched);
  return response;
}

/** Skips the check if a policy that the run did not create also applies to its agents. */
export function skipForeign(run: Run, matched: unknown): void {
  const all: readonly unknown[] = Array.isArray(matched) ? matched : [];
  const deciding = all.filter((one) => isObject(one) && one.mode === 'enforce');
  const foreign = deciding.find((one) => isObject(one) && !run.records.hasPolicy(one.policyId));
  if (isObject(foreign)) {
    skip(`the tenant's policy ${foreign.policyId} applies to the agents of the run: use a separate tenant`);
  }
}
