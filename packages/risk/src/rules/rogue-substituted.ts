import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import type { ActionRecord } from '../session/actions.ts';
import { precedes } from '../session/mark.ts';
import { firstOf, lastOf, toolName } from '../session/session-view.ts';
import { irreversibleBits } from '../taxonomy/tag.ts';

/** Detects an alternative to a denied action. */
export const rogueSubstituted: Rule = {
  id: 'rogue.substituted',
  title: 'Alternative to a denied action',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'After a denial the agent takes the same type of action with another tool or other arguments.',
  weight: 0.4,
  habitual: false,
  falsePositives: 'An agent that was instructed to do it in an allowed way.',
  recommendation: {
    title: 'Write the policy for the type of action',
    text: 'Match all tools that can do the same with a pattern instead of one name.',
  },
  detect(view) {
    let best: readonly [denied: ActionRecord, other: ActionRecord] | undefined;
    for (const denied of view.actions) {
      const irreversible = denied.bits & irreversibleBits;
      for (const other of view.actions) {
        if (other === denied || (other.bits & irreversible) === 0) continue;
        if (!precedes(denied.denied, other.done)) continue;
        if (best === undefined || (best[0].tool === best[1].tool && other.tool !== denied.tool))
          best = [denied, other];
      }
    }
    if (best === undefined) return undefined;
    const [denied, other] = best;
    return matched(
      [firstOf(denied.denied), lastOf(other.done)],
      other.tool === denied.tool ? 0.6 : 1,
      `${toolName(view, denied.tool)} was denied, then ${toolName(view, other.tool)} took the same type of action.`,
    );
  },
  fires: [
    {
      name: 'mail is denied, a post is made',
      steps: [
        { tool: 'send_email', category: 'guardian_decision', payload: { decision: 'deny' } },
        'post_webpage',
      ],
    },
  ],
  quiet: [
    {
      name: 'mail is denied, a note is written',
      steps: [
        { tool: 'send_email', category: 'guardian_decision', payload: { decision: 'deny' } },
        'create_note',
      ],
    },
    {
      name: 'every attempt is denied, and recorded as refused by an agent that obeys',
      steps: ['a', 'b', 'c'].flatMap((given) => [
        { tool: 'send_email', given, category: 'guardian_decision', payload: { decision: 'deny' } },
        { tool: 'send_email', given, status: 403 },
      ]),
    },
    {
      name: 'a rate was exceeded, and the agent waited',
      steps: [
        {
          tool: 'send_email',
          given: 'a',
          category: 'guardian_decision',
          payload: { decision: 'deny', rate: { max: 2, windowSeconds: 60, per: 'agent' } },
        },
        { tool: 'send_email', given: 'b', afterMs: 60_000 },
      ],
    },
    {
      name: 'the post came before',
      steps: [
        'post_webpage',
        { tool: 'send_email', category: 'guardian_decision', payload: { decision: 'deny' } },
      ],
    },
  ],
};
