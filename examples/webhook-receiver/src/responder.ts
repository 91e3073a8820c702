import { type Actlog, ConflictError, type WebhookEvent } from '@actlog/client';

/** Levels at which held actions are denied automatically. */
const refusedLevels: readonly (string | undefined)[] = ['medium', 'high', 'critical'];

/**
 * Acts on a delivery. Notifies the people on call of a session whose risk rises, with the reason. Denies a held action
 * at once if its session is risky, and shows it to people otherwise. Idempotent.
 *
 * @param tell - posts to the on-call channel
 */
export async function respond(
  client: Actlog,
  event: WebhookEvent,
  tell: (text: string) => void,
): Promise<void> {
  switch (event.type) {
    case 'session.risk_raised': {
      const { sessionId, level, score } = event.data;
      if (!refusedLevels.includes(level)) return;
      const { factors } = await client.sessions.risk(sessionId);
      tell(`Session ${sessionId} is at ${score} of 100, ${level}: ${factors?.[0]?.explanation ?? ''}`);
      return;
    }
    case 'guardian.action_pending': {
      const { id, sessionId, action, expiresAt } = event.data;
      const risk = sessionId ? await client.sessions.risk(sessionId) : undefined;
      if (!refusedLevels.includes(risk?.level)) {
        tell(`${action?.toolName} of session ${sessionId} waits for one of you until ${expiresAt}: ${id}`);
        return;
      }
      const comment = `Denied by the responder: the session's risk is ${risk?.level}.`;
      await client.guardian.pendingActions.decide(id, { decision: 'deny', comment }).catch(hasEnded);
      tell(`${action?.toolName} of session ${sessionId} was denied: its risk is ${risk?.level}.`);
      return;
    }
    default: // other types, including those of later versions
  }
}

/** Ignores conflicts: the action was already decided or has expired. */
function hasEnded(error: unknown): void {
  if (!(error instanceof ConflictError)) throw error;
}
