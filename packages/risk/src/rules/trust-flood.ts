import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { firstOf, lastOf, tallyOf } from '../session/session-view.ts';

const manyHeldActions = 10;

/** Detects more approval requests than a person can review. */
export const trustFlood: Rule = {
  id: 'trust.flood',
  title: 'Approver flooded with requests',
  dimension: 'ASI09',
  llm: ['LLM06:2025 Excessive Agency', 'LLM10:2025 Unbounded Consumption'],
  signal:
    'Ten or more actions of the session are held for approval: reviewers tire, and important requests are overlooked.',
  weight: 0.25,
  acts: ['held'],
  falsePositives: 'A policy that holds too many actions.',
  recommendation: {
    title: 'Narrow the policy',
    text: 'Hold only harmful actions, and limit the number of actions per session.',
  },
  detect(view) {
    const held = tallyOf(view, 'held');
    if (held.count < manyHeldActions) return undefined;
    return matched(
      [firstOf(held), lastOf(held)],
      Math.min(1, held.count / 20),
      `${counted(held.count, 'action')} of this session were held for approval.`,
      held.count,
    );
  },
  fires: [
    {
      name: 'twelve questions',
      steps: [
        { tool: 'pay', category: 'guardian_decision', payload: { decision: 'require_approval' }, times: 12 },
      ],
    },
  ],
  quiet: [
    {
      name: 'three questions',
      steps: [
        { tool: 'pay', category: 'guardian_decision', payload: { decision: 'require_approval' }, times: 3 },
      ],
    },
  ],
};
