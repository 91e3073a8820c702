import { createHash } from 'node:crypto';
import { processWide } from '../../lib/process-wide.ts';
import { type CallParams, callText } from './unrepeated-calls.ts';

/** Maximum number of calls remembered that wait for user input. */
const maxActionIds = 1000;

/** Caller of a tool, as far as known. */
export interface Caller {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
}

const waiting = processWide('@actlog/mcp/action-ids', () => new Map<string, string[]>());

/**
 * Returns the action id of the call that requested user input and is now continued, so that a person approves a call
 * that takes several requests only once. Each id is returned once, and only for exactly the same caller, tool and
 * arguments, because an approval allows one call.
 *
 * Shared by the process, because the requests of one call may reach different servers in it.
 */
export function takeActionId(caller: Caller, params: CallParams): string | undefined {
  if (params.inputResponses === undefined && params.requestState === undefined) return undefined;
  const key = keyOf(caller, params);
  const ids = key === undefined ? undefined : waiting().get(key);
  const id = ids?.pop();
  if (key !== undefined && ids?.length === 0) waiting().delete(key);
  return id;
}

/** Stores the action id of a call that requests user input. */
export function keepActionId(caller: Caller, params: CallParams, actionId: string): void {
  const key = keyOf(caller, params);
  if (key === undefined) return;
  const ids = waiting().get(key) ?? [];
  waiting().delete(key); // re-added as the newest
  waiting().set(key, [...ids.slice(1 - maxActionIds), actionId]);
  const [oldest] = waiting().keys();
  if (waiting().size > maxActionIds && oldest !== undefined) waiting().delete(oldest);
}

function keyOf({ agentId, sessionId }: Caller, params: CallParams): string | undefined {
  const call = callText(params);
  if (call === undefined) return undefined;
  const parts = JSON.stringify([agentId, sessionId, call]);
  return createHash('sha256').update(parts).digest('base64');
}
