import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session/session-view.ts';
import { tagBits } from '../taxonomy/tag.ts';

const UNTRUSTED = tagBits('ingest_untrusted');
const PRIVATE = tagBits('read_private');
const EXTERNAL = tagBits('external_comm');

/**
 * Detects untrusted content, then private data, then an outgoing message: the pattern of data theft through
 * an agent.
 */
export const misusePrivateThenExternal: Rule = {
  id: 'misuse.private-then-external',
  title: 'Untrusted content, private data, then an outgoing message',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'The session reads untrusted content, another call then reads private data, and a third sends something out: everything that is needed to steal data through an agent.',
  weight: 0.14,
  precedented: true,
  falsePositives: 'Research that ends with an emailed report.',
  recommendation: {
    title: 'Remove one of the three steps',
    text: 'Use a policy to forbid sending in sessions that read untrusted content, or to allow only known recipients.',
  },
  detect(view) {
    const untrusted = view.steps.find((step) => (step.bits & UNTRUSTED) !== 0);
    if (untrusted === undefined) return undefined;
    const read = view.steps.find((step) => step.at > untrusted.at && (step.bits & PRIVATE) !== 0);
    if (read === undefined) return undefined;
    const sent = view.acts.filter((step) => step.at > read.at && (step.bits & EXTERNAL) !== 0);
    const first = sent[0];
    if (first === undefined) return undefined;
    return matched(
      [untrusted, read, ...sent],
      1,
      `${toolName(view, read.tool)} read private data after untrusted content was read, then ${toolName(view, first.tool)} sent something out.`,
    );
  },
  fires: [
    { name: 'page, mailbox, message', steps: ['fetch_url', 'search_emails', 'send_message'] },
    { name: 'issue, file, comment', steps: ['get_issue', 'read_file', 'add_issue_comment'] },
  ],
  quiet: [
    { name: 'private data alone, then out', steps: ['get_user_profile', 'send_message'] },
    { name: 'out comes first', steps: ['fetch_url', 'send_message', 'search_emails'] },
  ],
};
