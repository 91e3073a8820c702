import { currentSessionId, newSessionId } from '@actlog/recorder/adapter';
import type { RequestContext } from './request-context.ts';

/** Sessions of connections without a session of their own, such as stdio, by transport. */
const sessions = new WeakMap<object, string>();

/** Session of a request, for calls that no client with the same recorder announced. */
export interface RequestSession {
  readonly id: string;
  /** `true` if the session is that of this call alone, because nothing tells which requests belong together. */
  readonly isOfCall: boolean;
}

/**
 * Returns the session of a request: that of the transport, else that of the surrounding `session.run`, else one of the
 * connection. Requests over HTTP without a session are not of one connection: each call gets its own session, because
 * different clients must not share one.
 *
 * @param actionId - id of the action, which requests of one call have in common
 */
export function sessionOfRequest(
  { sessionId, isHttp }: RequestContext,
  transport: object | undefined,
  actionId: string,
): RequestSession {
  const known = sessionId || currentSessionId();
  if (known) return { id: known, isOfCall: false };
  if (isHttp || !transport || 'sessionIdGenerator' in transport) return { id: actionId, isOfCall: true };
  const id = sessions.get(transport) ?? newSessionId();
  sessions.set(transport, id);
  return { id, isOfCall: false };
}
