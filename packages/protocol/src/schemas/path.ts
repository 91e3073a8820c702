import { strictObject } from './object.ts';
import { identifier } from './scalar.ts';

/** For endpoints without path parameters. */
export const noParams = strictObject({});

/** The session of a path. */
export const sessionPath = strictObject({
  /** The session: the `sessionId` of its events. */
  id: identifier,
});

/** The agent of a path. */
export const agentPath = strictObject({
  /** The agent: the `agentId` of its events, registered or only seen. */
  id: identifier,
});

/** The policy of a path. */
export const policyPath = strictObject({
  /** The policy, archived or not. */
  id: identifier,
});

/** The pending action of a path. */
export const pendingActionPath = strictObject({
  /** The pending action, as its list and the check that was held name it. */
  id: identifier,
});
