import { ApiError } from '../lib/api-error.ts';
import { keepNewest } from '../lib/keep-newest.ts';
import type { TenantTurns } from '../lib/tenant-turns.ts';
import type { Storage } from '../storage/storage.ts';
import { addAgentsOfKey, revokedAgentsOf } from '../storage/stores/key-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { Caller } from './caller.ts';

/** The fields of a caller by which a revoked agent stops it. */
export type KeyHolder = Pick<Caller, 'tenantId' | 'keyId' | 'agents' | 'isShared'>;

/** Maximum number of pairs of a key and an agent that are known to be recorded. */
const maxKnown = 50_000;

/** `true` if the caller may act as an agent: its key is bound to no agents, or to this one. */
function mayActAs({ agents }: Pick<Caller, 'agents'>, agentId: string): boolean {
  return agents === undefined || agents.some((pattern) => pattern.matches(agentId));
}

/** @throws ApiError `PERMISSION_DENIED` when the caller's key is bound to other agents. */
export function requireAgent(caller: Caller, agentId: string): void {
  if (mayActAs(caller, agentId)) return;
  const patterns = (caller.agents ?? []).map(({ pattern }) => JSON.stringify(pattern)).join(', ');
  throw new ApiError(
    'PERMISSION_DENIED',
    `The API key may act as the agents ${patterns} only, not as ${JSON.stringify(agentId)}. Use that agent's own key.`,
  );
}

/**
 * Records as which agents each key acts, for the kill switch: an agent's id is what the holder of the key claims, so a
 * revocation that applied to the id alone would end with the next name.
 */
export class KeyAgents {
  readonly #storage: Storage;
  readonly #turns: TenantTurns;
  /** Agents already recorded, by key and agent. */
  readonly #known = new Map<string, true>();
  /** Keys with more agents than are kept. */
  readonly #full = new Map<string, true>();

  /** @param turns - shares the writing connections between tenants */
  constructor(storage: Storage, turns: TenantTurns) {
    this.#storage = storage;
    this.#turns = turns;
  }

  /**
   * Admits a caller that acts as agents: records an event or checks an action.
   *
   * @param above - agents around those; the key is not required to be bound to them, because they permit nothing
   * @returns `undefined` if nothing is to be recorded, which is the common case; otherwise a promise that resolves when
   *   the agents are recorded
   * @throws ApiError `PERMISSION_DENIED` when the caller's key is bound to other agents.
   */
  admit(
    caller: Caller,
    agentIds: Iterable<string>,
    above: readonly string[] = [],
  ): Promise<void> | undefined {
    const { tenantId, keyId, isShared } = caller;
    const isRecorded = keyId === undefined || isShared || this.#full.has(keyId);
    const unknown: string[] = [];
    const note = (agentId: string) => {
      if (!isRecorded && !this.#known.has(`${keyId} ${agentId}`)) unknown.push(agentId);
    };
    for (const agentId of agentIds) {
      requireAgent(caller, agentId);
      note(agentId);
    }
    for (const agentId of above) if (mayActAs(caller, agentId)) note(agentId);
    if (isRecorded || unknown.length === 0) return undefined;
    return this.#record(tenantId, keyId, unknown);
  }

  async #record(tenantId: number, keyId: string, agentIds: readonly string[]): Promise<void> {
    const { isFull } = await this.#turns.run(tenantId, () =>
      this.#storage.write(tenantId, ({ db }) => addAgentsOfKey(db, tenantId, keyId, agentIds)),
    );
    if (isFull) keepNewest(this.#full, keyId, true, maxKnown);
    for (const agentId of agentIds) keepNewest(this.#known, `${keyId} ${agentId}`, true, maxKnown);
  }
}

/** A revoked agent that stops a check. */
export interface StoppingAgent {
  readonly agentId: string;
  /** The agent of the check, an agent above it, or another one that its key has acted as. */
  readonly is: 'agent' | 'above' | 'other';
}

/**
 * Returns the revoked agent that stops a caller's check as an agent: this agent, one above it, or another one that the caller's key has
 * acted as and still may act as, unless several agents share the key.
 */
export async function stoppingAgent(
  db: Database,
  caller: KeyHolder,
  agentId: string,
  above: readonly string[],
): Promise<StoppingAgent | undefined> {
  const { tenantId, keyId, isShared } = caller;
  const revoked = await revokedAgentsOf(db, tenantId, [agentId, ...above], isShared ? undefined : keyId);
  if (revoked.includes(agentId)) return { agentId, is: 'agent' };
  const outer = above.find((id) => revoked.includes(id));
  if (outer !== undefined) return { agentId: outer, is: 'above' };
  const other = revoked.find((id) => mayActAs(caller, id));
  return other === undefined ? undefined : { agentId: other, is: 'other' };
}
