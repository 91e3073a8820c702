import {
  type ArgumentOrigins,
  type CallerIdentity,
  maxWaitSeconds,
  type PolicyCheck,
} from '@actlog/protocol';

/** A check with what the service knows of its caller. No caller can state it. */
export interface IdentifiedCheck extends PolicyCheck {
  /** Verified identity of the caller; null or undefined for none. */
  readonly identity?: CallerIdentity | null | undefined;
  /** W3C `traceparent` of the call; null or undefined for none. */
  readonly traceparent?: string | null | undefined;
}

const wait = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,5})"?\s*(?=$|[,;])/i;
const dryRun = /(?:^|[,;])\s*dry-run\s*(?=$|[,;])/i;

/** Preferences of a policy check, parsed from the `Prefer` header. */
export interface CheckPreference {
  /** Maximum time to wait for a decision, in seconds, capped at `maxWaitSeconds`; 0 means no wait. */
  readonly waitSeconds: number;
  /** `true` if the check must leave nothing behind. A dry run never waits for a decision. */
  readonly isDryRun: boolean;
}

/**
 * Parses the `Prefer` header of a policy check (RFC 7240; `wait` is defined in section 4.3).
 * Unknown preferences are ignored.
 *
 * @param prefer - value of the header; undefined if the request has none
 */
export function checkPreference(prefer = ''): CheckPreference {
  return {
    waitSeconds: Math.min(maxWaitSeconds, Number(wait.exec(prefer)?.[1] ?? 0)),
    isDryRun: dryRun.test(prefer),
  };
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
