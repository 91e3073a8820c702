import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session-view.ts';
import { tagBits } from '../taxonomy/tag.ts';

const UNTRUSTED = tagBits('ingest_untrusted');
const PRIVATE = tagBits('read_private');
const EXTERNAL = tagBits('external_comm');

/** Foreign text, then private data, then a message out: the way data is stolen through an agent. */
export const misusePrivateThenExternal: Rule = {
  id: 'misuse.private-then-external',
  title: 'Foreign text, then private data, then a message out',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'Text of unknown authors comes in, another call then reads private data, and a third sends something out: all that is needed to steal data through an agent.',
  weight: 0.14,
  precedented: true,
  falsePositives: 'Research that ends in a report by mail.',
  recommendation: {
    title: 'Break one of the three links',
    text: 'Forbid sending in sessions that read foreign text, or allow only known recipients, by a policy.',
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
      `${toolName(view, read.tool)} read private data after foreign text had come in, then ${toolName(view, first.tool)} sent something out.`,
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
