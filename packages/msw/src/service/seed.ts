import type { BodyOf, EndpointName } from '@actlog/protocol';
import { contract } from '@actlog/protocol/schemas';
import { routes } from '../routes/routes.ts';
import type { Tenant } from '../tenant/tenant.ts';
import type { Call } from './call.ts';
import { validated } from './validated.ts';

/** Initial data of a tenant. */
export interface Seed {
  readonly agents?: readonly BodyOf<'agents.create'>[];
  readonly policies?: readonly BodyOf<'policies.create'>[];
}

/**
 * Creates the initial data of a tenant.
 *
 * @throws TypeError that names the entry if the service would reject it.
 */
export function seed(tenant: Tenant, { agents = [], policies = [] }: Seed): void {
  for (const [index, body] of agents.entries()) {
    refusing(`agents[${index}]`, () => routes['agents.create'](callWith('agents.create', tenant, body)));
  }
  for (const [index, body] of policies.entries()) {
    refusing(`policies[${index}]`, () =>
      routes['policies.create'](callWith('policies.create', tenant, body)),
    );
  }
}

function callWith<Name extends EndpointName & `${string}.create`>(
  name: Name,
  tenant: Tenant,
  body: BodyOf<Name>,
) {
  const call = { tenant, body: validated('body', contract[name].body, body), nowMs: Date.now() };
  // Creating a record uses no other field of a call.
  return call as unknown as Call<Name>;
}

function refusing(entry: string, make: () => unknown): void {
  try {
    make();
  } catch (error) {
    throw new TypeError(`${entry} is invalid: ${(error as Error).message}`, { cause: error });
  }
}
