import { Environment, type ParseError, type ParseResult, type TypeCheckResult } from '@marcbachmann/cel-js';
import type { CheckedAction } from './checked-action.ts';
import { refuseCostly } from './condition-cost.ts';
import { ConditionError } from './condition-error.ts';
import { inTimeOf } from './condition-time.ts';
import { placeIn } from './place-in.ts';

/** Syntax nodes of one condition, and how deep they stand (reference profile, "Policy"). */
const limits = { maxAstNodes: 200, maxDepth: 50 };

const environment = new Environment({ limits })
  .registerVariable({ name: 'agent', schema: { id: 'string' } })
  .registerVariable({ name: 'session', schema: { id: 'string' } })
  .registerVariable({ name: 'action', schema: { toolName: 'string', argumentsHash: 'string' } })
  .registerVariable('args', 'map')
  .registerVariable('framework', 'string')
  .registerVariable('environment', 'string');

/** A condition that was checked and can be asked, any number of times. */
export interface Condition {
  /**
   * Whether it holds.
   *
   * @throws Error when it cannot be told: when it reads an argument that is not there, when the shown arguments are too
   * large, or when conditions have taken half a second for this action already.
   */
  holds(action: CheckedAction): boolean;
}

/**
 * Parses, type-checks and bounds a condition in CEL (Common Expression Language). It may read `agent.id`, `session.id`,
 * `action.toolName`, `action.argumentsHash`, `args`, `framework` and `environment`; what an action does not name is
 * an empty string.
 *
 * @throws ConditionError with the place and the way out.
 */
export function parseCondition(text: string): Condition {
  const parsed = parse(text);
  const check = parsed.check();
  if (!check.valid) throw refusal(check.error, text);
  if (check.type !== 'bool' && check.type !== 'dyn') {
    throw new ConditionError(`must be true or false, and this is of the type ${check.type}`);
  }
  refuseCostly(parsed.ast, text);
  return {
    holds(action) {
      const result: unknown = inTimeOf(action, () => parsed(variables(action)));
      if (typeof result !== 'boolean') throw new Error('the condition is neither true nor false');
      return result;
    },
  };
}

function parse(text: string): ParseResult {
  try {
    return environment.parse(text);
  } catch (error) {
    throw refusal(error as ParseError, text);
  }
}

/** What the parser says, on one line: its own message draws the condition and points into it. */
function refusal(error: TypeCheckResult['error'], text: string): ConditionError {
  const problem = error?.summary ?? 'is not a valid CEL expression';
  return new ConditionError(problem + placeIn(text, error?.range?.start), { cause: error });
}

function variables(action: CheckedAction): Record<string, unknown> {
  if (!action.arguments) throw new Error('the shown arguments are too large for a condition');
  return {
    agent: { id: action.agentId },
    session: { id: action.sessionId ?? '' },
    action: { toolName: action.toolName, argumentsHash: action.argumentsHash },
    args: action.arguments,
    framework: action.framework ?? '',
    environment: action.environment ?? '',
  };
}
