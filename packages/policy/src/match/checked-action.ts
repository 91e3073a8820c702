import type { ArgumentOrigins, CallerIdentity, PolicyCheck } from '@actlog/protocol';

/** A check with what the service knows of its caller. No caller can state it. */
export interface IdentifiedCheck extends PolicyCheck {
  /** Verified identity of the caller; null or undefined for none. */
  readonly identity?: CallerIdentity | null | undefined;
  /** W3C `traceparent` of the call; null or undefined for none. */
  readonly traceparent?: string | null | undefined;
}

/** Action of a check that rules are matched against, created by {@link checkedAction}. */
export interface CheckedAction {
  readonly agentId: string;
  readonly sessionId: string | undefined;
  readonly toolName: string;
  readonly argumentsHash: string;
  /**
   * Arguments that the caller chose to show; undefined if they exceed the limit, in which case no condition can be
   * evaluated.
   */
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
  /** Origins of the arguments, by path; undefined if the check has none, in which case no condition can read them. */
  readonly origins: ArgumentOrigins | undefined;
  readonly framework: string | undefined;
  readonly environment: string | undefined;
  /** Person or system on whose behalf the agent acts; undefined for none. */
  readonly principal?: string | undefined;
  /** Name of the agent's subagent that acts; undefined for none. */
  readonly subagent?: string | undefined;
  /** Agents that the agent runs inside, nearest first; undefined for none. */
  readonly parentAgentIds?: readonly string[] | undefined;
  /** Verified identity of the caller; undefined for none. */
  readonly identity?: CallerIdentity | undefined;
  /** Agent above for which a rule is matched; undefined for the agent itself. */
  readonly actsFor?: string | undefined;
}

/**
 * Returns the action of a check's body (`POST /v1/policies/check`). Arguments of more than 500 values or 32,768
 * characters, names included, are omitted to bound the time of the worst condition. Never throws for a body that
 * matches its schema.
 */
export function checkedAction(body: IdentifiedCheck): CheckedAction {
  const shown = body.action.arguments ?? {};
  return {
    agentId: body.agentId,
    sessionId: body.sessionId,
    toolName: body.action.toolName,
    argumentsHash: body.action.argumentsHash,
    arguments: areBounded(shown) ? shown : undefined,
    origins: body.action.origins,
    framework: body.framework,
    environment: body.environment,
    principal: body.principal,
    subagent: body.subagent,
    parentAgentIds: body.parentAgentIds,
    identity: body.identity ?? undefined,
  };
}

/** Upper bounds of the content of shown arguments. */
export interface ShownSize {
  /** Number of values, including the arguments object itself. */
  readonly values: number;
  /** Characters of all strings and field names. */
  readonly characters: number;
}

/**
 * Limits on the shown arguments that a condition may read. The cost of a condition is estimated from them.
 */
export const shownBounds: ShownSize = { values: 500, characters: 32 * 1024 };

/** Returns `true` if a condition may read these arguments. Stops reading at the limit. */
export function areBounded(shown: Readonly<Record<string, unknown>>): boolean {
  return sizeOf(shown) !== undefined;
}

/** Returns the size of shown arguments; undefined beyond {@link shownBounds}, where it stops reading. */
function sizeOf(shown: Readonly<Record<string, unknown>>): ShownSize | undefined {
  let characters = 0;
  const found: unknown[] = [shown];
  for (let index = 0; index < found.length; index += 1) {
    const value = found[index];
    if (typeof value === 'string') characters += value.length;
    // Checking the length first avoids copying a very long list.
    if (Array.isArray(value) && value.length > shownBounds.values) return undefined;
    const inner = typeof value === 'object' && value !== null ? Object.values(value) : [];
    if (found.length + inner.length > shownBounds.values) return undefined;
    // A condition reads the names of an object like strings.
    if (inner.length > 0 && !Array.isArray(value)) characters += Object.keys(value as object).join('').length;
    if (characters > shownBounds.characters) return undefined;
    found.push(...inner);
  }
  return { values: found.length, characters };
}
