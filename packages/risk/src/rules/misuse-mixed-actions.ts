import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { lastOf, sequence, tallyOf, toolName } from '../session/session-view.ts';

function size(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}

/** Detects several types of actions in one session. */
export const misuseMixedActions: Rule = {
  id: 'misuse.mixed-actions',
  title: 'Several types of actions',
  dimension: 'ASI02',
  llm: ['LLM06:2025 Excessive Agency'],
  signal:
    'The session writes and sends, or deletes and pays, after untrusted content: the more types of actions, the less likely one task needs them all.',
  weight: 0.2,
  circumstantial: true,
  precedented: true,
  falsePositives: 'Assistants with broad tasks.',
  recommendation: {
    title: 'Give the agent fewer types of tools',
    text: 'Split the work so that an agent that reads untrusted content can write or send, but not both.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'reach');
    const types = size(view.state.reachedVerbs);
    if (found === undefined || types < 2) return undefined;
    const [read, act] = found;
    const acts = tallyOf(view, 'reach');
    return matched(
      [read, act, lastOf(acts)],
      types > 2 ? 1 : 0.6,
      `The session takes ${types} types of actions, including ${toolName(view, act.tool)}.`,
      acts.count,
    );
  },
  fires: [
    { name: 'writes and deletes', steps: ['read_email', 'create_event', 'delete_event'] },
    { name: 'sends and pays', steps: ['read_email', 'send_email', 'pay_invoice'] },
  ],
  quiet: [
    { name: 'writes twice', steps: ['read_email', 'create_event', 'update_event'] },
    { name: 'nothing foreign was read', steps: ['create_event', 'delete_event'] },
  ],
};
