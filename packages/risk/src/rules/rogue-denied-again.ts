import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { ENTRY_KINDS } from '../session/event-log.ts';
import { tallyOf } from '../session/session-view.ts';

const DENIALS = (['policy_denied', 'refused'] as const).map((kind) => ENTRY_KINDS.indexOf(kind));
const MANY = 3;

/** Detects repeated denials. */
export const rogueDeniedAgain: Rule = {
  id: 'rogue.denied-again',
  title: 'Repeated denials',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Three or more actions of the session are denied: the agent keeps trying.',
  weight: 0.4,
  falsePositives: 'An agent that was not instructed about its restrictions.',
  recommendation: {
    title: 'Stop the session',
    text: 'End it, add the restrictions to the agent’s instructions, and remove tools that are always denied.',
  },
  detect(view) {
    const denied = tallyOf(view, 'policy_denied').count + tallyOf(view, 'refused').count;
    if (denied < MANY) return undefined;
    const found = view.decisions.filter((entry) => DENIALS.includes(entry.kind));
    return matched(
      found.length > 0 ? found : view.entries.slice(-1),
      Math.min(1, denied / 6),
      `${counted(denied, 'action')} of this session were denied.`,
      denied,
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
