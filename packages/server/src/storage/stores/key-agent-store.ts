import { sql } from 'kysely';
import { bulkInsert } from '../queries/bulk-insert.ts';
import { oneOf } from '../queries/one-of.ts';
import { preparedQuery } from '../queries/prepared-query.ts';
import type { Database } from '../transaction.ts';

/** Maximum number of agents kept for each key. */
const maxAgents = 1000;

/** Stands for all agents beyond the maximum. No agent has an empty id. */
const furtherAgents = '';

const addKeyAgents = bulkInsert('key_agents', ['tenant_id', 'key_id', 'agent_id'], (insert) =>
  insert.onConflict((conflict) => conflict.doNothing()),
);

/**
 * Records agents that a key has acted as. Of a key with more than 1,000, it only records that there are more: a key that
 * could forget an agent by acting as many others would escape the agent's revocation.
 *
 * @returns `isFull` if the key has more agents than are kept
 */
export async function addAgentsOfKey(
  db: Database,
  tenantId: number,
  keyId: string,
  agentIds: readonly string[],
): Promise<{ readonly isFull: boolean }> {
  const { count } = await db
    .selectFrom('key_agents')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where('key_id', '=', keyId)
    .executeTakeFirstOrThrow();
  const isFull = Number(count) + agentIds.length > maxAgents;
  const added = isFull ? [furtherAgents] : agentIds;
  await addKeyAgents(
    db,
    added.map((agentId) => ({ tenant_id: tenantId, key_id: keyId, agent_id: agentId })),
  );
  return { isFull };
}

/** Copies the agents that a key has acted as to the key that replaces it. */
export async function copyAgentsOfKey(
  db: Database,
  tenantId: number,
  from: string,
  to: string,
): Promise<void> {
  await db
    .insertInto('key_agents')
    .columns(['tenant_id', 'key_id', 'agent_id'])
    .expression((eb) =>
      eb
        .selectFrom('key_agents')
        .select(['tenant_id', eb.val(to).as('key_id'), 'agent_id'])
        .where('tenant_id', '=', tenantId)
        .where('key_id', '=', from),
    )
    .execute();
}

const revokedAgents = preparedQuery((db, tenantId: number, agentIdsJson: string, keyId: string) =>
  db
    .selectFrom('agents')
    .select('id')
    .where('tenant_id', '=', tenantId)
    // A constant, so that SQLite uses the index of revoked agents.
    .where('status', '=', sql.lit('revoked' as const))
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        oneOf(db, 'id', agentIdsJson),
        exists(
          selectFrom('key_agents')
            .select('key_agents.key_id')
            .where('key_agents.tenant_id', '=', tenantId)
            .where('key_agents.key_id', '=', keyId)
            .where('key_agents.agent_id', 'in', [eb.ref('agents.id'), sql.lit(furtherAgents)]),
        ),
      ]),
    )
    .orderBy('id'),
);

/**
 * Returns the revoked agents among some agents and those that a key has acted as. Of a key with too many agents to tell,
 * it may be any.
 *
 * @param keyId - `undefined` to ask about the agents alone
 */
export async function revokedAgentsOf(
  db: Database,
  tenantId: number,
  agentIds: readonly string[],
  keyId: string | undefined,
): Promise<string[]> {
  // No key has an empty id.
  return (await revokedAgents(db, tenantId, JSON.stringify(agentIds), keyId ?? '')).map(({ id }) => id);
}
