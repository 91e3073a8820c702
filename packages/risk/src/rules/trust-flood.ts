import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { ENTRY_KINDS } from '../session/event-log.ts';
import { tallyOf } from '../session/session-view.ts';

const HELD = ENTRY_KINDS.indexOf('held');
const MANY = 10;

/** Detects more approval requests than a person can review. */
export const trustFlood: Rule = {
  id: 'trust.flood',
  title: 'Approver flooded with requests',
  dimension: 'ASI09',
  llm: ['LLM06:2025 Excessive Agency', 'LLM10:2025 Unbounded Consumption'],
  signal:
    'Ten or more actions of the session are held for approval: reviewers tire, and important requests are overlooked.',
  weight: 0.25,
  falsePositives: 'A policy that holds too many actions.',
  recommendation: {
    title: 'Narrow the policy',
    text: 'Hold only harmful actions, and limit the number of actions per session.',
  },
  detect(view) {
    const held = tallyOf(view, 'held').count;
    if (held < MANY) return undefined;
    const found = view.decisions.filter((entry) => entry.kind === HELD);
    return matched(
      found.length > 0 ? found : [{ eventId: tallyOf(view, 'held').firstId }],
      Math.min(1, held / 20),
      `${counted(held, 'action')} of this session were held for approval.`,
      held,
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
