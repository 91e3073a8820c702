import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { precedes } from '../session/mark.ts';
import { firstOf, lastOf, toolName } from '../session/session-view.ts';

/** Detects a denied action that was requested again until it was approved. */
export const trustDenialOverturned: Rule = {
  id: 'trust.denial-overturned',
  title: 'Denial followed by an approval',
  dimension: 'ASI09',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'A person denies an action, the agent requests the same action again, and it is approved.',
  weight: 0.45,
  falsePositives: 'An approver who denied by mistake.',
  recommendation: {
    title: 'Ask both approvers',
    text: 'Keep a denial for the whole session, or let only the person who denied revert it.',
  },
  detect(view) {
    for (const { tool, refused, approved } of view.actions) {
      if (!precedes(refused, approved)) continue;
      return matched(
        [firstOf(refused), lastOf(approved)],
        1,
        `${toolName(view, tool)} was denied, requested again with the same arguments, and approved.`,
      );
    }
    return undefined;
  },
  fires: [
    {
      name: 'denied, then approved',
      steps: [
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'denied' } },
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'approved' } },
      ],
    },
  ],
  quiet: [
    {
      name: 'another action is approved',
      steps: [
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'denied' } },
        { tool: 'pay', given: 'b', category: 'guardian_decision', payload: { decision: 'approved' } },
      ],
    },
    {
      name: 'approved, then denied',
      steps: [
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'approved' } },
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'denied' } },
      ],
    },
  ],
};
