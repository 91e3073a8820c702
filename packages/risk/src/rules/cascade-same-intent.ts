import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** Detects the same action by several agents. */
export const cascadeSameIntent: Rule = {
  id: 'cascade.same-intent',
  title: 'Same action by several agents',
  dimension: 'ASI08',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'At least three agents take the same action within minutes, which suggests a common cause.',
  weight: 0.3,
  acts: ['same_intent'],
  falsePositives: 'Agents that were started together for one job.',
  recommendation: {
    title: 'Find the common cause',
    text: 'Look for the text or message that all of them read. Make such actions idempotent.',
  },
  detect: (view) =>
    stamped(view, 'same_intent', 1, 'Several agents took the same action within a few minutes.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'send_email', stamps: ['same_intent'] }] }],
  quiet: [{ name: 'alone', steps: ['send_email'] }],
};
