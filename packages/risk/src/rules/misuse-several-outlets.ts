import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, lastOf, sequence, tallyOf, toolName } from '../session/session-view.ts';
import { tagBits } from '../taxonomy/tag.ts';

const external = tagBits('external_comm', 'agent_msg');

/** Detects content that leaves through several tools. */
export const misuseSeveralOutlets: Rule = {
  id: 'misuse.several-outlets',
  title: 'Content sent through several tools',
  dimension: 'ASI02',
  llm: ['LLM02:2025 Sensitive Information Disclosure', 'LLM06:2025 Excessive Agency'],
  signal: 'The session sends with two or more different tools after untrusted content was read.',
  weight: 0.2,
  circumstantial: true,
  precedented: true,
  falsePositives: 'Announcements that are sent on all channels.',
  recommendation: {
    title: 'Check each recipient',
    text: 'Find out who received what through each tool. One of the recipients may be one that the user did not name.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'external_comm');
    if (found === undefined) return undefined;
    const outlets = view.tools.filter(([, tool]) => (tool.bits & external) !== 0);
    const [first, second] = outlets;
    if (first === undefined || second === undefined) return undefined;
    const sent = tallyOf(view, 'external_comm');
    return matched(
      [found[0], firstOf(sent), lastOf(sent)],
      1,
      `Content was sent with ${outlets.length} different tools, including ${toolName(view, first[0])} and ${toolName(view, second[0])}.`,
      sent.count,
    );
  },
  fires: [{ name: 'a post and a message', steps: ['read_inbox', 'post_webpage', 'send_direct_message'] }],
  quiet: [
    { name: 'two messages by one tool', steps: ['read_inbox', 'send_message', 'send_message'] },
    { name: 'nothing foreign was read', steps: ['post_webpage', 'send_direct_message'] },
  ],
};
