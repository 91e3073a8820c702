import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** Detects failures that several agents share. */
export const cascadeFailureSpread: Rule = {
  id: 'cascade.failure-spread',
  title: 'Failures across several agents',
  dimension: 'ASI08',
  llm: ['LLM10:2025 Unbounded Consumption'],
  signal: 'Calls fail while calls of at least two other agents also fail: a fault is cascading.',
  weight: 0.25,
  acts: ['failure_spread'],
  falsePositives: 'A shared service that is down.',
  recommendation: {
    title: 'Find the common cause',
    text: 'Look for the tool or service that all of them use, and pause the agents that keep retrying.',
  },
  detect: (view) =>
    stamped(view, 'failure_spread', 1, 'Calls failed while calls of several other agents also failed.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'read_file', status: 503, stamps: ['failure_spread'] }] }],
  quiet: [{ name: 'a failure of its own', steps: [{ tool: 'read_file', status: 503 }] }],
};
