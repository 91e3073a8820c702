import type { ProcessIdentity } from '@actlog/recorder/short-lived';

/** Facts about a call that has begun, as kept on disk until it ends. */
export interface CallFacts {
  readonly agentId: string;
  readonly sessionId: string;
  /** Type of the subagent that makes the call; undefined for the main thread. */
  readonly subagent?: string | undefined;
  readonly toolName: string;
  readonly argumentsHash: string;
  /** Process of the agent; undefined if unknown. */
  readonly owner?: ProcessIdentity | undefined;
}

/** State of a call: running; ended with a status, but perhaps not recorded yet; recorded. */
export type CallState = 'open' | 'done' | `s${number}`;

/** Parts of the name of a call's file. */
export interface CallName {
  /** Digest of the thread. */
  readonly thread: string;
  /** Digest of the call's id or, for agents without ids, of its tool and arguments. */
  readonly key: string;
  /** Id of the event, by which a call that is recorded twice is stored once. */
  readonly eventId: string;
  readonly state: CallState;
}

const pattern = /^([0-9a-f]{16})\.([0-9a-f]{16})\.([0-9a-f-]{36})\.(open|done|s\d+)$/;

/** Returns the name of a call's file. Names of the same call sort by time. */
export function callFileName({ thread, key, eventId, state }: CallName): string {
  return `${thread}.${key}.${eventId}.${state}`;
}

/** Parses the name of a call's file; undefined for other files. */
export function parseCallFileName(name: string): CallName | undefined {
  const match = pattern.exec(name);
  return match
    ? {
        thread: match[1] as string,
        key: match[2] as string,
        eventId: match[3] as string,
        state: match[4] as CallState,
      }
    : undefined;
}

/** Parses the content of a call's file; undefined if it is damaged. */
export function parseCallFacts(text: string): CallFacts | undefined {
  try {
    const facts = JSON.parse(text) as CallFacts;
    const texts = [facts.agentId, facts.sessionId, facts.toolName, facts.argumentsHash];
    const isSubagent = facts.subagent === undefined || typeof facts.subagent === 'string';
    return isSubagent && texts.every((value) => typeof value === 'string') ? facts : undefined;
  } catch {
    return undefined;
  }
}
