import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { firstOf, tallyOf } from '../session/session-view.ts';
import { actionBits } from '../taxonomy/tag.ts';

const enough = 5;
const manyNewCalls = 3;

/** Detects a session that differs from all past sessions of the agent. */
export const rogueDrift: Rule = {
  id: 'rogue.drift',
  title: 'Unlike all past sessions',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Three or more calls, some of which act, use tools that none of five or more past sessions used.',
  weight: 0.3,
  habitual: false,
  falsePositives: 'An agent with a new job.',
  recommendation: {
    title: 'Confirm the new job',
    text: 'If nobody gave the agent a new job, stop it and check what it read first.',
  },
  detect(view) {
    const { expected } = view;
    if (expected === undefined || expected.all.length < enough || tallyOf(view, 'act').count === 0)
      return undefined;
    const strange = view.tools.filter(([hash]) => !expected.all.some((past) => past.tools.has(hash)));
    const calls = strange.reduce((sum, [, tool]) => sum + tool.count, 0);
    const acting = strange.some(([, tool]) => (tool.bits & actionBits) !== 0);
    if (calls < manyNewCalls || !acting) return undefined;
    return matched(
      [firstOf(tallyOf(view, 'act'))],
      Math.min(1, calls / 6),
      `${counted(calls, 'call')} used tools that no past session used.`,
      calls,
    );
  },
  fires: [
    {
      name: 'a reader becomes a payer',
      steps: ['get_invoice', 'send_payment', 'send_payment', 'delete_file'],
      history: Array.from({ length: 6 }, () => ['read_file', 'search_files']),
    },
  ],
  quiet: [
    {
      name: 'much as before',
      steps: ['read_file', 'search_files', 'write_file'],
      history: Array.from({ length: 6 }, () => ['read_file', 'search_files', 'write_file']),
    },
  ],
};
