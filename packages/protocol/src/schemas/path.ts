import { strictObject } from './object.ts';
import { identifier } from './scalar.ts';

/** Path parameters of endpoints without any. */
export const noParams = strictObject({});

/** Path parameters of a session endpoint. */
export const sessionPath = strictObject({
  /** Id of the session: the `sessionId` of its events. */
  id: identifier,
});

/** Path parameters of an agent endpoint. */
export const agentPath = strictObject({
  /** Id of the agent: the `agentId` of its events, registered or not. */
  id: identifier,
});

/** Path parameters of a policy endpoint. */
export const policyPath = strictObject({
  /** Id of the policy, archived or not. */
  id: identifier,
});

/** Path parameters of a pending action endpoint. */
export const pendingActionPath = strictObject({
  /** Id of the pending action, from the list or from the check that held it. */
  id: identifier,
});
