import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session/session-view.ts';
import { tagBits } from '../taxonomy/tag.ts';

const EXTERNAL = tagBits('external_comm', 'agent_msg');

/** Detects content that leaves through several tools. */
export const misuseSeveralOutlets: Rule = {
  id: 'misuse.several-outlets',
  title: 'Content sent through several tools',
  dimension: 'ASI02',
  llm: ['LLM02:2025 Sensitive Information Disclosure', 'LLM06:2025 Excessive Agency'],
  signal: 'The session sends with two or more different tools after untrusted content was read.',
  weight: 0.24,
  precedented: true,
  falsePositives: 'Announcements that are sent on all channels.',
  recommendation: {
    title: 'Check each recipient',
    text: 'Find out who received what through each tool. One of the recipients may be one that the user did not name.',
  },
  detect(view) {
    const firsts = new Map<number, (typeof view.acts)[number]>();
    for (const step of view.acts) {
      if (step.bits & EXTERNAL && step.afterUntrusted && !firsts.has(step.tool)) firsts.set(step.tool, step);
    }
    const found = [...firsts.values()];
    const [first, second] = found;
    if (first === undefined || second === undefined) return undefined;
    return matched(
      found,
      1,
      `Content was sent with ${found.length} different tools, including ${toolName(view, first.tool)} and ${toolName(view, second.tool)}.`,
    );
  },
  fires: [{ name: 'a post and a message', steps: ['read_inbox', 'post_webpage', 'send_direct_message'] }],
  quiet: [
    { name: 'two messages by one tool', steps: ['read_inbox', 'send_message', 'send_message'] },
    { name: 'nothing foreign was read', steps: ['post_webpage', 'send_direct_message'] },
  ],
};
