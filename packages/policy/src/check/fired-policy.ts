import type { PolicyCheck, PolicyCreate, PolicyEffect, SentOf } from '@actlog/protocol';
import type { CheckedAction } from '../match/checked-action.ts';
import { matchPolicy, type PolicyRule } from '../match/match-policy.ts';
import { scheduleReason } from './schedule.ts';

/** Fields of a policy that its author writes, with defaults filled in. */
export type PolicyDefinition = Omit<
  SentOf<'policies.get'>,
  'id' | 'status' | 'createdAt' | 'updatedAt' | 'archivedAt' | 'version'
>;

/** A policy with its id. */
export interface DefinedPolicy {
  readonly id: string;
  readonly definition: PolicyDefinition;
  /** Version of the policy; undefined for a built-in policy or a draft. */
  readonly version?: number | undefined;
}

/** A policy that applies to an action. */
export interface FiredPolicy {
  readonly policy: DefinedPolicy;
  /** Reason why it applies, for the reader of the response. */
  readonly why: string;
}

/**
 * Returns the policies that fire. A policy with a rate fires only when the action exceeds the rate.
 *
 * @param matching - policies whose names and condition match, in order of precedence
 * @param exceeded - reasons why rates are exceeded, by policy id
 */
export function firedPolicies(
  matching: readonly FiredPolicy[],
  exceeded: ReadonlyMap<string, string>,
): readonly FiredPolicy[] {
  return matching.flatMap((fired) => {
    if (fired.policy.definition.rate === null) return [fired];
    const reason = exceeded.get(fired.policy.id);
    return reason === undefined ? [] : [{ ...fired, why: `${fired.why}; ${reason}` }];
  });
}

/** Returns the policies that apply for as long as an action is held. Rates apply only when the action is counted. */
export function lastingPolicies(matching: readonly FiredPolicy[]): readonly FiredPolicy[] {
  return matching.filter(({ policy }) => policy.definition.rate === null);
}

/** Combined decision of the policies about an action. */
export interface Verdict {
  readonly decision: PolicyEffect;
  /** The deciding policy; undefined if none decided and the action is allowed by default. */
  readonly decidedBy: FiredPolicy | undefined;
}

/** Returns the verdict of policies that fire, in order of precedence: the effect of the first enforced one. */
export function verdictOn(fired: readonly FiredPolicy[]): Verdict {
  const decidedBy = fired.find(({ policy }) => policy.definition.mode === 'enforce');
  return { decision: decidedBy?.policy.definition.effect ?? 'allow', decidedBy };
}

/** A policy with its compiled rule. */
interface CompiledPolicy {
  readonly definition: PolicyDefinition;
  readonly rule: PolicyRule;
}

/**
 * Returns what says if policies deny a tool whatever the arguments, the time and the earlier calls are: if an enforced policy
 * without a condition, rate and schedule denies it. If that is a fallback, no other policy may apply to the tool.
 */
export function deniedTools(policies: readonly CompiledPolicy[]): (tool: CheckedAction) => boolean {
  const enforced = policies.filter(({ definition }) => definition.mode === 'enforce');
  const denials = enforced.filter(({ definition: { effect, condition, rate, schedule } }) => {
    return effect === 'deny' && condition === null && rate === null && schedule === null;
  });
  const others = enforced.filter(({ definition }) => !isFallback(definition) && definition.effect !== 'deny');
  return (tool) => {
    const denying = denials.filter(({ rule }) => matchPolicy(rule, tool) !== undefined);
    if (denying.some(({ definition }) => !isFallback(definition))) return true;
    const mayApply = ({ rule }: CompiledPolicy) =>
      matchPolicy({ ...rule, condition: undefined }, tool) !== undefined;
    return denying.length > 0 && !others.some(mayApply);
  };
}

/** Returns the policy that denies the action, or `undefined` if none does. */
export function denyingPolicy(fired: readonly FiredPolicy[]): FiredPolicy | undefined {
  const { decision, decidedBy } = verdictOn(fired);
  return decision === 'deny' ? decidedBy : undefined;
}

/**
 * Match of the built-in policy that denies every action of a revoked agent. It is the first match in a check's response
 * and looks like one of an ordinary policy, so code that handles denials by policies also handles this one. No stored
 * policy has its id.
 */
export const agentRevoked: FiredPolicy = {
  policy: {
    id: 'agent_revoked',
    definition: {
      name: 'Revoked agents',
      description: null,
      mode: 'enforce',
      effect: 'deny',
      priority: 1000,
      match: {},
      condition: null,
      rate: null,
      approval: null,
      schedule: null,
      message: 'This agent is revoked: it must not act until somebody reinstates it.',
    },
  },
  why: 'the agent is revoked',
};

/**
 * Returns the match that denies the actions of an agent that runs inside a revoked one. It has the id of
 * {@link agentRevoked}.
 *
 * @param agentId - the revoked agent
 */
export function revokedAbove(agentId: string): FiredPolicy {
  const { id, definition } = agentRevoked.policy;
  const message =
    'This agent runs inside an agent that is revoked: it must not act until somebody reinstates that agent.';
  return {
    policy: { id, definition: { ...definition, message } },
    why: `the agent runs inside ${JSON.stringify(agentId)}, which is revoked`,
  };
}

/**
 * Returns the match that denies the actions of an API key that has acted as a revoked agent, whichever agent it names
 * now. It has the id of {@link agentRevoked}.
 *
 * @param agentId - the revoked agent, which the key's holder knows
 */
export function keyStopped(agentId: string): FiredPolicy {
  const { id, definition } = agentRevoked.policy;
  const message =
    'The API key has acted as an agent that is revoked: it must not act until somebody reinstates that agent.';
  return {
    policy: { id, definition: { ...definition, message } },
    why: `the API key has acted as the agent ${JSON.stringify(agentId)}, which is revoked`,
  };
}

/** Id of the built-in policy that holds an action because its caller asked for a person's decision. */
export const promptPolicyId = 'agent_prompt';

/**
 * Returns the matches of a check, and the match of the built-in policy that holds the action, if its caller asked for a person's
 * decision. It comes first among those that hold, so that its hold ends when the caller no longer asks.
 */
export function withPrompt(
  matching: readonly FiredPolicy[],
  { holdSeconds }: Pick<PolicyCheck, 'holdSeconds'>,
): readonly FiredPolicy[] {
  if (holdSeconds === undefined) return matching;
  const { definition } = agentRevoked.policy;
  const prompt: FiredPolicy = {
    policy: {
      id: promptPolicyId,
      definition: {
        ...definition,
        name: "The agent's permission prompt",
        effect: 'require_approval',
        approval: { timeoutSeconds: holdSeconds, onTimeout: 'deny' },
        message: null,
      },
    },
    why: 'the agent asks for the permission of its user',
  };
  const denying = matching.filter(({ policy }) => policy.definition.effect === 'deny');
  return [...denying, prompt, ...matching.filter(({ policy }) => policy.definition.effect !== 'deny')];
}

/** Fields of a policy that determine its precedence and effect. */
export interface PolicyWeight {
  readonly effect: PolicyEffect;
  /** Order within one effect, highest first. */
  readonly priority: number;
  /** `log_only` policies are reported but do not affect the decision. */
  readonly mode: 'enforce' | 'log_only';
  /**
   * Outcome of an approval that nobody decides, and whether it is for one call; by default `deny` and
   * `false`.
   */
  readonly approval?:
    | { readonly onTimeout: 'deny' | 'allow'; readonly singleUse?: boolean | undefined }
    | null
    | undefined;
}

/**
 * Priority of a fallback, which is the lowest: a policy that denies or holds with it decides only if no other enforced policy
 * applies. With it, everything that no policy allows is denied.
 */
export const fallbackPriority = -1000;

/** `true` for a policy that decides only if no other one does. */
export function isFallback({ effect, priority }: Pick<PolicyWeight, 'effect' | 'priority'>): boolean {
  return priority === fallbackPriority && effect !== 'allow';
}

const effectOrder: Readonly<Record<PolicyEffect, number>> = { deny: 0, require_approval: 1, allow: 2 };

/**
 * Sorts policies by precedence: deny before require_approval before allow, then by highest priority. At the same
 * priority, policies with `onTimeout: 'allow'` come last, so that they cannot bypass stricter ones. Fallbacks come after all
 * others.
 */
export function byPrecedence(left: PolicyWeight, right: PolicyWeight): number {
  return (
    Number(isFallback(left)) - Number(isFallback(right)) ||
    effectOrder[left.effect] - effectOrder[right.effect] ||
    right.priority - left.priority ||
    Number(runsUndecided(left)) - Number(runsUndecided(right))
  );
}

function runsUndecided({ approval }: PolicyWeight): boolean {
  return approval?.onTimeout === 'allow';
}

/** Returns a policy from the body of its creation, with defaults filled in. */
export function policyDefinition(body: PolicyCreate): PolicyDefinition {
  return {
    name: body.name,
    description: body.description ?? null,
    mode: body.mode ?? 'enforce',
    effect: body.effect,
    priority: body.priority ?? 0,
    match: (body.match ?? {}) as PolicyDefinition['match'],
    condition: body.condition ?? null,
    rate: body.rate ?? null,
    approval: (body.approval ?? null) as PolicyDefinition['approval'],
    schedule: (body.schedule ?? null) as PolicyDefinition['schedule'],
    message: body.message ?? null,
  };
}

/** Returns the matching policies that apply at a time, in the same order. */
export function scheduledPolicies(matching: readonly FiredPolicy[], atMs: number): readonly FiredPolicy[] {
  // Most sets have no schedule, and checks compare the lists of policies.
  if (matching.every(({ policy }) => policy.definition.schedule == null)) return matching;
  return matching.flatMap((fired) => {
    const { schedule, effect } = fired.policy.definition;
    if (schedule == null) return [fired];
    const reason = scheduleReason(schedule, effect, atMs);
    return reason === undefined ? [] : [{ ...fired, why: `${fired.why}; ${reason}` }];
  });
}
