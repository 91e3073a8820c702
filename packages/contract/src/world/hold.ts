import { type ApiResponse, holds, type JsonObject, values } from '../http/api-response.ts';
import type { MadeRecord } from './records.ts';

/** Names by which an action of the run is known. */
export interface ActionNames {
  readonly agentId: string;
  readonly sessionId: string;
  /** Name of the action itself, if its body has one. */
  readonly name: string;
}

/** Outcome of holding an action with a policy of the run. */
export interface Hold {
  readonly agentId: string;
  readonly names: ActionNames;
  /** Policy that holds the actions of the agent. */
  readonly policy: MadeRecord;
  /** Response to the check before there was the policy. */
  readonly free: ApiResponse;
  /** Response to the check with the policy. */
  readonly checked: ApiResponse;
  /** `true` if the deployment claims that the policy holds the action. */
  readonly isClaimed: boolean;
  /** `true` if an action of the agent was held before there was the policy. */
  readonly wasHeldBefore: boolean;
  /** The action in the list of pending actions; undefined if it is not there. */
  readonly item: JsonObject | undefined;
}

/** `true` if a pending action names the agent, the session or the action of a check. */
export function namesAny(item: unknown, { agentId, sessionId, name }: ActionNames): boolean {
  if (holds(item, agentId)) return true;
  return values(item).some(
    (value) => typeof value === 'string' && (value.includes(sessionId) || value.includes(name)),
  );
}
