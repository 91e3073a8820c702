import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session/session-view.ts';

/** Detects several types of actions in one session. */
export const misuseMixedActions: Rule = {
  id: 'misuse.mixed-actions',
  title: 'Several types of actions',
  dimension: 'ASI02',
  llm: ['LLM06:2025 Excessive Agency'],
  signal:
    'The session writes and sends, or deletes and pays, after untrusted content: the more types of actions, the less likely one task needs them all.',
  weight: 0.14,
  precedented: true,
  falsePositives: 'Assistants with broad tasks.',
  recommendation: {
    title: 'Give the agent fewer types of tools',
    text: 'Split the work so that an agent that reads untrusted content can write or send, but not both.',
  },
  detect(view) {
    const firsts = new Map<number, (typeof view.acts)[number]>();
    for (const step of view.acts) if (!firsts.has(step.verb)) firsts.set(step.verb, step);
    const found = [...firsts.values()];
    const [first, second] = found;
    if (first === undefined || second === undefined || !found.some((step) => step.afterUntrusted))
      return undefined;
    return matched(
      found,
      found.length > 2 ? 1 : 0.6,
      `The session takes ${found.length} types of actions, including ${toolName(view, first.tool)} and ${toolName(view, second.tool)}.`,
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
