import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** Failures that several agents share. */
export const cascadeFailureSpread: Rule = {
  id: 'cascade.failure-spread',
  title: 'Failures spread over agents',
  dimension: 'ASI08',
  llm: ['LLM10:2025 Unbounded Consumption'],
  signal:
    'Calls fail here while calls of at least two other agents fail too: a fault runs through the agents.',
  weight: 0.25,
  falsePositives: 'A service that is down for all.',
  recommendation: {
    title: 'Find what the agents share',
    text: 'Look for the tool or service that all of them use, and pause the agents that go on trying.',
  },
  detect: (view) =>
    stamped(view, 'failure_spread', 1, 'Calls failed here while calls of several other agents failed too.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'read_file', status: 503, stamps: ['failure_spread'] }] }],
  quiet: [{ name: 'a failure of its own', steps: [{ tool: 'read_file', status: 503 }] }],
};
