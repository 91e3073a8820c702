import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, tallyOf, toolName } from '../session/session-view.ts';
import { tagBits } from '../taxonomy/tag.ts';

const rights = tagBits('credential', 'admin');

/** Detects the first use of secrets or permissions by an agent. */
export const privilegeFirstUse: Rule = {
  id: 'privilege.first-use',
  title: 'First use of secrets or permissions',
  dimension: 'ASI03',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'The agent uses a secret or changes a permission, which no past session did.',
  weight: 0.35,
  acts: ['rights'],
  cluster: 'new-action',
  habitual: false,
  falsePositives: 'A task that was added to the agent on purpose.',
  recommendation: {
    title: 'Confirm the new task',
    text: 'If nobody gave the agent this task, remove its permissions and find out who or what asked for it.',
  },
  detect(view) {
    const expected = view.expected;
    if (expected === undefined || expected.all.some((past) => (past.tags & rights) !== 0)) return undefined;
    const used = tallyOf(view, 'rights');
    if (used.count === 0) return undefined;
    const first = firstOf(used);
    return matched(
      [first],
      expected.confidence,
      `${toolName(view, first.tool)} is this agent's first use of secrets or permissions.`,
      used.count,
    );
  },
  fires: [
    {
      name: 'grants a role where it only read',
      steps: ['get_record', 'grant_role'],
      history: [['get_record'], ['get_record'], ['get_record']],
    },
  ],
  quiet: [
    { name: 'grants as before', steps: ['grant_role'], history: [['grant_role'], ['get_record']] },
    { name: 'no past is known', steps: ['grant_role'] },
  ],
};
