import { operator } from '../audit/actor.ts';
import { recordUnlimited } from '../audit/record-change.ts';
import { deleteSession } from '../deletion/delete-session.ts';
import { learnConfirmedSession } from '../risk/learning.ts';
import type { Storage } from '../storage/storage.ts';
import { eraseTraces } from './erase-traces.ts';
import { findTenantId } from './find-tenant-id.ts';

/** Sessions of tenants. */
export class SessionAdministration {
  readonly #storage: Storage;

  /** @internal */
  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * Adds a session that scored `high` or `critical` to the agent's baseline, after a person confirmed it as expected
   * behavior. Other sessions are added automatically, half an hour after their last event. The session's own score does
   * not change.
   *
   * @returns `true` if the session is now one of the sixteen kept in the baseline, which are a sample of all sessions.
   * @throws Error when there is no such tenant or session, or when the session has not ended.
   */
  async learn(tenant: string, sessionId: string): Promise<boolean> {
    const owner = await findTenantId(this.#storage, tenant);
    const outcome = await learnConfirmedSession(this.#storage, owner, sessionId, Date.now(), (db) =>
      recordUnlimited(db, owner, operator, {
        action: 'session.confirmed',
        target: { id: sessionId, name: null },
        changes: [],
      }),
    );
    if (outcome === 'unknown') throw unknownSession(tenant, sessionId);
    if (outcome === 'not-ended') {
      throw new Error(
        `The session "${sessionId}" has not ended: it can be learned half an hour after its last event.`,
      );
    }
    return outcome === 'learned';
  }

  /**
   * Deletes a session permanently: its events, its risk, its held actions with their displayed arguments, the
   * decisions about its actions, and the messages to webhooks about it, sent or not. The agent's baseline combines several sessions and is unchanged.
   * Further events of the session create it again.
   *
   * @throws Error when there is no such tenant or session, or when an action of the session waits for a decision.
   */
  async delete(tenant: string, sessionId: string): Promise<void> {
    const owner = await findTenantId(this.#storage, tenant);
    const outcome = await deleteSession(this.#storage, owner, sessionId, Date.now(), (db) =>
      recordUnlimited(db, owner, operator, {
        action: 'session.deleted',
        target: { id: sessionId, name: null },
        changes: [],
      }),
    );
    if (outcome === 'unknown') throw unknownSession(tenant, sessionId);
    if (outcome === 'waiting') {
      throw new Error(
        `An action of the session "${sessionId}" waits for a decision: approve or deny it first.`,
      );
    }
    await eraseTraces(this.#storage);
  }
}

function unknownSession(tenant: string, sessionId: string): Error {
  return new Error(`The tenant "${tenant}" has no session "${sessionId}".`);
}
