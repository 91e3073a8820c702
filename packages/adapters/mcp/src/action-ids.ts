import { createHash } from 'node:crypto';
import { processWide } from '@actlog/recorder/adapter';
import { type CallParams, callText } from './call-params.ts';

/** How many calls that wait for the user are remembered. */
const maxWaiting = 1000;

/** Who calls, as far as it is known. */
export interface Caller {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
}

const waiting = processWide('@actlog/mcp/action-ids', () => new Map<string, string[]>());

/**
 * The action of a call that goes on: the one of the call that asked the user for more, so that a person approves once
 * what is one call in several requests. Each id is given out once, and only to the very same caller, tool and
 * arguments: an approval lets one call run.
 *
 * The requests of one call may come to different servers of this process, so this is for the process.
 */
export function takeActionId(caller: Caller, params: CallParams): string | undefined {
  if (params.inputResponses === undefined && params.requestState === undefined) return undefined;
  const key = keyOf(caller, params);
  const ids = key === undefined ? undefined : waiting().get(key);
  const id = ids?.pop();
  if (key !== undefined && ids?.length === 0) waiting().delete(key);
  return id;
}

/** Keeps the action of a call that asks the user for more. */
export function keepActionId(caller: Caller, params: CallParams, actionId: string): void {
  const key = keyOf(caller, params);
  if (key === undefined) return;
  const ids = waiting().get(key) ?? [];
  waiting().delete(key); // set again, as the youngest
  waiting().set(key, [...ids.slice(1 - maxWaiting), actionId]);
  const [oldest] = waiting().keys();
  if (waiting().size > maxWaiting && oldest !== undefined) waiting().delete(oldest);
}

function keyOf({ agentId, sessionId }: Caller, params: CallParams): string | undefined {
  const call = callText(params);
  if (call === undefined) return undefined;
  const parts = JSON.stringify([agentId, sessionId, call]);
  return createHash('sha256').update(parts).digest('base64');
}
