import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { firstOf, tallyOf } from '../session/session-view.ts';

const manyDenials = 3;

/** Detects repeated denials. */
export const rogueDeniedAgain: Rule = {
  id: 'rogue.denied-again',
  title: 'Repeated denials',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Three or more actions of the session are denied: the agent keeps trying.',
  weight: 0.4,
  acts: ['policy_denied', 'refused'],
  falsePositives: 'An agent that was not instructed about its restrictions.',
  recommendation: {
    title: 'Stop the session',
    text: 'End it, add the restrictions to the agent’s instructions, and remove tools that are always denied.',
  },
  detect(view) {
    const [denied, refused] = [tallyOf(view, 'policy_denied'), tallyOf(view, 'refused')];
    const count = denied.count + refused.count;
    if (count < manyDenials) return undefined;
    return matched(
      [denied, refused].filter((tally) => tally.count > 0).map(firstOf),
      Math.min(1, count / 6),
      `${counted(count, 'action')} of this session were denied.`,
      count,
    );
  },
  fires: [
    {
      name: 'four denials',
      steps: [{ tool: 'send_email', category: 'guardian_decision', payload: { decision: 'deny' }, times: 4 }],
    },
  ],
  quiet: [
    {
      name: 'one denial',
      steps: [{ tool: 'send_email', category: 'guardian_decision', payload: { decision: 'deny' } }],
    },
    {
      name: 'four that lapsed',
      steps: [
        { tool: 'send_email', category: 'guardian_decision', payload: { decision: 'expired' }, times: 4 },
      ],
    },
  ],
};
