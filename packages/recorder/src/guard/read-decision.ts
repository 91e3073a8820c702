import { ignoreRejection } from '../lib/ignore-rejection.ts';
import { type Decision, type HoldingPolicy, parseDecision } from './decision.ts';
import type { GuardDecision, ReadDecision } from './guard-options.ts';

const decisions: readonly unknown[] = ['allow', 'deny', 'require_approval'];

/** Decision of a response, or the reason why it has none that can be read. */
export type ReadingResult = { readonly decision: Decision } | { readonly problem: string };

/**
 * Reads the decision of a response with the function of the user, or as the reference profile defines it.
 *
 * @param held - policy that held the action, from an earlier response
 */
export function readDecision(
  body: unknown,
  read: ReadDecision | undefined,
  held?: HoldingPolicy,
): ReadingResult {
  if (read) return readForeign(body, read);
  const decision = parseDecision(body, held);
  const problem =
    'A response to a policy check has no decision "allow", "deny" or "require_approval": map the decisions of this service with guard.readDecision.';
  return decision ? { decision } : { problem };
}

function readForeign(body: unknown, read: ReadDecision): ReadingResult {
  let given: unknown;
  try {
    given = read(body as Readonly<Record<string, unknown>>);
  } catch {
    // The error could quote an argument.
    return { problem: 'guard.readDecision threw an error for a response to a policy check.' };
  }
  ignoreRejection(given);
  const mapped = (given ?? {}) as Partial<GuardDecision>;
  const { decision, deniedBy } = mapped;
  if (decision === undefined || !decisions.includes(decision)) {
    const problem =
      'guard.readDecision returned no decision "allow", "deny" or "require_approval" for a response to a policy check.';
    return { problem };
  }
  const isDenial = decision === 'deny';
  const isTimedOut = isDenial && mapped.isTimedOut === true;
  return {
    decision: {
      decision,
      isTimedOut,
      deniedBy: isDenial && !isTimedOut ? (deniedBy === 'person' ? 'person' : 'policy') : undefined,
      policyId: textOf(mapped.policyId),
      policyName: textOf(mapped.policyName),
      reason: textOf(mapped.reason),
      pendingActionId: textOf(mapped.pendingActionId),
    },
  };
}

/** Returns a text, or a number as text; undefined for anything else and for an empty text. */
function textOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
}
