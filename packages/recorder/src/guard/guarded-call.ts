import { hash } from 'node:crypto';
import type { ArgumentChanges, ArgumentOrigins, CheckResult } from '@actlog/protocol';
import { toIdentifier, toResourceId } from '@actlog/tool-call';
import { createEventId, sendablePlace } from '../events/event.ts';
import type { ApprovedChange, ToolCall } from '../events/tool-call.ts';

/** A call as seen by the guard. */
export interface GuardedCall {
  readonly agentId: string;
  readonly sessionId: string;
  /** Subagent, and agents around the agent, as they are sent; undefined for none. */
  readonly place: ReturnType<typeof sendablePlace>;
  readonly toolName: string;
  readonly arguments: unknown;
  /** Hash of the checked arguments. */
  argumentsHash: string;
  /** Returns the hash of arguments. */
  readonly hash: (args: unknown) => string | Promise<string>;
  /** Returns the hash of the current arguments. */
  readonly hashNow: () => string | Promise<string>;
  /** `true` if the caller runs the tool with changed arguments when it gets any. */
  readonly acceptsChanges: boolean;
  /** Schema by which changed arguments are validated; undefined for none. */
  readonly schema: unknown;
  /** Hash of the requested arguments, if an approver changed them and the call has the changed ones. */
  changedFrom: string | undefined;
  /** The approver's change, once the guard allows the call with it. */
  change: ApprovedChange | undefined;
  /** Returns the origins of the current arguments; undefined if they are not traced. */
  readonly originsNow: () => ArgumentOrigins | undefined;
  /** Origins of the checked arguments. */
  origins: ArgumentOrigins | undefined;
  readonly framework: string | undefined;
  /** W3C `traceparent` of the call; undefined for none. */
  readonly traceparent: string | undefined;
  /** Id of the action, the same in repeated checks. */
  actionId: string;
  /** `true` if the selected arguments are sent to the service; `false` also if they could not be selected. */
  isShown: boolean;
  /** Seconds for which each check holds the call for a person, even without a policy; undefined for none. */
  readonly holdSeconds: number | undefined;
  /** Policy that holds the call, once the service has named it. */
  heldBy: HoldingPolicy | undefined;
  /** Called with the id of the held action; undefined if nobody wants it. */
  readonly onHeld: ((pendingActionId: string) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Maximum length of a framework's name (reference profile, "Check"). */
const maxFrameworkLength = 100;

/**
 * Creates the guard's view of a call.
 *
 * @param known - facts known to the recorder; `actionId` comes from an outer hook, if it checked
 */
export function guardedCall(
  call: ToolCall,
  known: {
    readonly agentId: string;
    readonly sessionId: string;
    readonly subagent?: string | undefined;
    readonly parentAgentIds?: readonly string[] | undefined;
    readonly argumentsHash: string;
    readonly hash: (args: unknown) => string | Promise<string>;
    readonly hashNow: () => string | Promise<string>;
    readonly changedFrom?: string | undefined;
    readonly holdSeconds?: number | undefined;
    readonly onHeld?: ((pendingActionId: string) => void) | undefined;
    readonly originsNow: () => ArgumentOrigins | undefined;
    readonly origins: ArgumentOrigins | undefined;
    readonly framework: string | undefined;
    readonly traceparent: string | undefined;
    readonly actionId: string | undefined;
  },
): GuardedCall {
  return {
    agentId: toResourceId(known.agentId, 'agent'),
    sessionId: toResourceId(known.sessionId, 'session'),
    place: sendablePlace(known),
    toolName: toIdentifier(call.toolName, 'unknown'),
    arguments: call.arguments,
    argumentsHash: known.argumentsHash,
    hash: known.hash,
    hashNow: known.hashNow,
    acceptsChanges: call.acceptsChanges === true,
    schema: call.schema,
    changedFrom: known.changedFrom,
    change: undefined,
    originsNow: known.originsNow,
    origins: known.origins,
    framework: toIdentifier(String(known.framework ?? '').slice(0, maxFrameworkLength), '') || undefined,
    traceparent: known.traceparent,
    actionId: known.actionId ?? actionIdOf(call.actionId),
    isShown: true,
    holdSeconds: known.holdSeconds,
    onHeld: known.onHeld,
    heldBy: undefined,
    signal: call.signal,
  };
}

/**
 * Returns the caller's id of the action; an empty one counts as none. An id that the service would reject is sent as
 * its hash: sanitized, it might equal the id of another action, whose approval would then count for this one.
 */
function actionIdOf(given: string | undefined): string {
  const id = toIdentifier(given ?? '', '');
  if (id === '') return createEventId(Date.now());
  return id === String(given) ? id : `sha256:${hash('sha256', String(given))}`;
}

/** Decision from a response of `POST /v1/policies/check`, as understood by the guard. */
export interface Decision {
  readonly decision: 'allow' | 'deny' | 'require_approval';
  readonly policyId: string | undefined;
  /** Name of that policy, if the service sends it. */
  readonly policyName: string | undefined;
  /** `true` if the action was denied because nobody decided in time. */
  readonly isTimedOut: boolean;
  /** Source of a denial; undefined for other decisions and for timeouts. */
  readonly deniedBy: 'policy' | 'person' | undefined;
  /** Message of the policy, or comment of the person who denied the action. */
  readonly reason: string | undefined;
  readonly pendingActionId: string | undefined;
  /** Arguments that a person changed; the denial is then of the requested ones. Undefined for none. */
  readonly changedArguments?: ArgumentChanges | undefined;
}

/** Policy that held an action. */
export type HoldingPolicy = Pick<Decision, 'policyId' | 'policyName'>;

/**
 * Parses a response. The specification does not fix its fields, so each is validated. Without a valid decision there is
 * no result.
 *
 * @param held - policy that held the action, from an earlier response; it may be archived by now
 */
export function parseDecision(response: unknown, held?: HoldingPolicy): Decision | undefined {
  if (typeof response !== 'object' || response === null) return undefined;
  const { decision, decidedBy, matched, pendingActionId, comment, changedArguments } =
    response as CheckResult;
  if (decision !== 'allow' && decision !== 'deny' && decision !== 'require_approval') return undefined;
  const policies = Array.isArray(matched)
    ? matched.filter((match) => typeof match === 'object' && match)
    : [];
  const named = policies.find(({ policyId }) => policyId === decidedBy);
  const enforced = (wanted: string) =>
    policies.find(({ effect, mode }) => effect === wanted && mode !== 'log_only');
  const common = { decision, isTimedOut: false, pendingActionId: textOf(pendingActionId) };
  const isDenying = named?.effect === 'deny' && named.mode !== 'log_only';
  if (decision === 'deny' && common.pendingActionId && textOf(decidedBy) && !isDenying) {
    // The action was held. If a policy that does not itself deny is named, the hold has expired; otherwise a person
    // decided.
    if (named || decidedBy === held?.policyId) {
      const reason = textOf(named?.message);
      return { ...common, isTimedOut: true, ...policyIn(named ?? held), deniedBy: undefined, reason };
    }
    const policy = policyIn(enforced('require_approval') ?? held);
    const changes = isRecord(changedArguments) ? { changedArguments } : {};
    return { ...common, ...policy, deniedBy: 'person', reason: textOf(comment), ...changes };
  }
  const behind = named ?? enforced(decision);
  return {
    ...common,
    policyId: textOf(behind?.policyId) ?? textOf(decidedBy),
    policyName: textOf(behind?.policyName),
    deniedBy: decision === 'deny' ? 'policy' : undefined,
    reason: textOf(behind?.message),
  };
}

function policyIn(value: Partial<Readonly<Record<keyof HoldingPolicy, unknown>>> | undefined): HoldingPolicy {
  return { policyId: textOf(value?.policyId), policyName: textOf(value?.policyName) };
}

function isRecord(value: unknown): value is ArgumentChanges {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
