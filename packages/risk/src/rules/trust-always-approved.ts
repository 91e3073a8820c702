import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, lastOf, tallyOf } from '../session/session-view.ts';

const manyDecisions = 20;

/** Detects that almost all held actions are approved. */
export const trustAlwaysApproved: Rule = {
  id: 'trust.always-approved',
  title: 'Almost everything is approved',
  dimension: 'ASI09',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'At least 98% of twenty or more decisions are approvals: approving has become a habit.',
  weight: 0.25,
  acts: ['approved'],
  falsePositives: 'A policy that holds harmless actions.',
  recommendation: {
    title: 'Hold fewer actions',
    text: 'Allow actions that are never denied with a policy, so that approvers can focus on the rest.',
  },
  detect(view) {
    const approvals = tallyOf(view, 'approved');
    const approved = approvals.count;
    const decided = approved + tallyOf(view, 'refused').count;
    if (decided < manyDecisions || approved < decided * 0.98) return undefined;
    return matched(
      [firstOf(approvals), lastOf(approvals)],
      1,
      `${approved} of ${decided} held actions were approved.`,
      approved,
    );
  },
  fires: [
    {
      name: 'twenty-five approvals',
      steps: [
        {
          tool: 'pay',
          category: 'guardian_decision',
          payload: { decision: 'approved', heldMs: 60000 },
          times: 25,
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'twenty approvals and three denials',
      steps: [
        {
          tool: 'pay',
          category: 'guardian_decision',
          payload: { decision: 'approved', heldMs: 60000 },
          times: 20,
        },
        {
          tool: 'pay',
          category: 'guardian_decision',
          payload: { decision: 'denied', heldMs: 60000 },
          times: 3,
        },
      ],
    },
    {
      name: 'ten approvals',
      steps: [
        {
          tool: 'pay',
          category: 'guardian_decision',
          payload: { decision: 'approved', heldMs: 60000 },
          times: 10,
        },
      ],
    },
  ],
};
