import type { Actlog } from '@actlog/client';
import { type ActionDecision, type ActionDecisionResult, decideActions } from '@actlog/client/server';

/** Decisions in one request. */
const decisionsAtOnce = 100;

/** Error of the client, as far as it shows what the service responded. */
interface ServiceError {
  readonly status?: number;
  readonly code?: string;
  readonly message: string;
}

/**
 * Decides several actions in the same way, and yields one result for each. A service without the endpoint for several
 * decisions gets one request for each.
 */
export async function* decideEach(
  client: Actlog,
  ids: readonly string[],
  body: Omit<ActionDecision, 'id'>,
): AsyncGenerator<ActionDecisionResult> {
  for (let from = 0; from < ids.length; from += decisionsAtOnce) {
    const decisions = ids.slice(from, from + decisionsAtOnce).map((id) => ({ id, ...body }));
    const results = await decideActions(client, decisions).catch((error: ServiceError) => {
      if (error.status === 404 || error.status === 405) return undefined;
      throw error;
    });
    if (results) yield* results;
    else for (const decision of decisions) yield await decideAlone(client, decision);
  }
}

async function decideAlone(client: Actlog, { id, ...body }: ActionDecision): Promise<ActionDecisionResult> {
  try {
    return { id, action: await client.guardian.pendingActions.decide(id, body), error: null };
  } catch (error) {
    const { status, code = 'UNKNOWN', message } = error as ServiceError;
    // Without a response, or without permission, the next decision would fail the same way.
    if (status === undefined || status === 401) throw error;
    return { id, action: null, error: { code, message } };
  }
}
