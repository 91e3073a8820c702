import { type Actlog, NotFoundError, type StoredEvent } from '@actlog/client';
import type { PolicyDecision, PolicyDecisionPage } from '@actlog/protocol';

/** Maximum number of decisions about the tool in the session that are searched for those about the call. */
const mostDecisions = 200;

/**
 * Reads the decisions of policies about a call: those in its session about the same tool and arguments, newest first.
 * Returns none from a service that keeps no decisions.
 */
export async function readCallDecisions(
  client: Actlog,
  { sessionId, payload = {} }: StoredEvent,
  signal: AbortSignal,
): Promise<readonly PolicyDecision[]> {
  const { toolName, argumentsHash } = payload;
  if (sessionId === undefined || typeof toolName !== 'string') return [];
  const query = { sessionId, toolName, dryRun: false, limit: mostDecisions };
  try {
    const page: PolicyDecisionPage = await client.request('GET', '/server/v1/decisions', { query, signal });
    return page.items.filter((decision) => decision.argumentsHash === argumentsHash);
  } catch (error) {
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}
