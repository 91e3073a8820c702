import { ruleHash } from '../baseline/baseline.ts';
import { shareOf } from '../baseline/expectation.ts';
import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** Detects an agent that is active in several sessions at once. */
export const privilegeAgentElsewhere: Rule = {
  id: 'privilege.agent-elsewhere',
  title: 'Agent active in several sessions at once',
  dimension: 'ASI03',
  llm: ['LLM06:2025 Excessive Agency'],
  signal:
    'Events of the same agent come from other sessions within the same minute: its identity may be used twice.',
  weight: 0.14,
  habitual: false,
  falsePositives: 'Agents that serve many users at once; the rule does not match if past sessions show this.',
  recommendation: {
    title: 'Give each instance its own identity',
    text: 'If the agent should run only once, rotate its key. If it serves many users at once, give each instance its own agentId.',
  },
  detect(view) {
    const own = ruleHash('privilege.agent-elsewhere');
    if (view.expected !== undefined && shareOf(view.expected, (past) => past.rules.has(own)) > 0.2)
      return undefined;
    return stamped(
      view,
      'agent_elsewhere',
      1,
      'The same agent was active in another session within the same minute.',
    );
  },
  fires: [{ name: 'stamped', steps: ['read_file', { tool: 'read_file', stamps: ['agent_elsewhere'] }] }],
  quiet: [
    { name: 'alone', steps: ['read_file', 'read_file'] },
    {
      name: 'always at several places',
      steps: [{ tool: 'read_file', stamps: ['agent_elsewhere'] }],
      history: [[{ tool: 'read_file', stamps: ['agent_elsewhere'] }]],
    },
  ],
};
