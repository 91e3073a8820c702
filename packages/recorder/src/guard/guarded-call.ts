import { hash } from 'node:crypto';
import { createEventId } from '../event-id.ts';
import { toIdentifier } from '../identifier.ts';
import type { ToolCall } from '../tool-call.ts';

/** A call as the guard sees it. */
export interface GuardedCall {
  readonly agentId: string;
  readonly sessionId: string;
  readonly toolName: string;
  readonly arguments: unknown;
  /** Hash of the arguments as they are asked about. */
  argumentsHash: string;
  /** The hash of the arguments as they are by now. */
  readonly hashNow: () => string | Promise<string>;
  readonly framework: string | undefined;
  /** Names the action through repeated questions. */
  actionId: string;
  /** Whether the service may see of the arguments what was chosen for it; false also where that could not be told. */
  isShown: boolean;
  /** The policy that has it held, once the service has said so. */
  heldBy: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Most characters of a framework's name (reference profile, "Check"). */
const maxFrameworkLength = 100;

/**
 * Puts a call in the guard's terms.
 *
 * @param known - what the recorder found out about it; its `actionId` is that of a hook further out, if one asked
 */
export function guardedCall(
  call: ToolCall,
  known: {
    readonly agentId: string;
    readonly sessionId: string;
    readonly argumentsHash: string;
    readonly hashNow: () => string | Promise<string>;
    readonly framework: string | undefined;
    readonly actionId: string | undefined;
  },
): GuardedCall {
  return {
    agentId: toIdentifier(known.agentId, 'agent'),
    sessionId: toIdentifier(known.sessionId, 'session'),
    toolName: toIdentifier(call.toolName, 'unknown'),
    arguments: call.arguments,
    argumentsHash: known.argumentsHash,
    hashNow: known.hashNow,
    framework: toIdentifier(String(known.framework ?? '').slice(0, maxFrameworkLength), '') || undefined,
    actionId: known.actionId ?? actionIdOf(call.actionId),
    isShown: true,
    heldBy: undefined,
    signal: call.signal,
  };
}

/**
 * The caller's name for the action; an empty one is none. One that the service would refuse goes as its hash: mended, it
 * might become the name of another action, whose approval would then count for this one.
 */
function actionIdOf(given: string | undefined): string {
  const id = toIdentifier(given ?? '', '');
  if (id === '') return createEventId(Date.now());
  return id === String(given) ? id : `sha256:${hash('sha256', String(given))}`;
}
