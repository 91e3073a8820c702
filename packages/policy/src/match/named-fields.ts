import type { CheckedAction } from './checked-action.ts';
import type { Glob } from './glob.ts';
import type { PolicyMatch } from './policy-rule.ts';

/** A name of an action, with the patterns for it; undefined patterns match anything. */
type NamedField = readonly [name: string, patterns: readonly Glob[] | undefined, value: string | undefined];

/** Returns the names of an action with a rule's patterns, in the order in which reasons name them. */
export function namedFields(match: PolicyMatch, action: CheckedAction): readonly NamedField[] {
  return [
    ['agent', match.agents, action.actsFor ?? action.agentId],
    ['tool', match.tools, action.toolName],
    ['framework', match.frameworks, action.framework],
    ['environment', match.environments, action.environment],
  ];
}
